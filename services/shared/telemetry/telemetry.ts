import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { W3cTraceContext } from '#proto/call.ts'

/** Logs, metrics and traces of one service. */
export interface Telemetry {
  log: Logger
  /** Metrics of the whole process, scraped at `/metrics`; names begin with `watchhouse_`. */
  metrics: Registry
  tracer: Tracer
}

/** The kind of a span, as in OpenTelemetry. */
export type SpanKind = 'server' | 'client' | 'internal'
/** Attributes of a span; never the text of statements. */
export type SpanAttributes = Record<string, string | number | boolean | string[]>

/** A tracer of one service. It creates spans only if an exporter is configured. */
export interface Tracer {
  /** Whether spans are exported, so that callers compute expensive attributes only then. */
  readonly isExporting: boolean
  /** Starts a span under `parent`, or a new trace without one. */
  start(name: string, kind: SpanKind, parent: W3cTraceContext | undefined, attributes?: SpanAttributes): Span
}

/** An operation in a trace. */
export interface Span {
  /** Trace context for the work inside the span; without an exporter, that of the parent. */
  readonly trace: W3cTraceContext | undefined
  set(attributes: SpanAttributes): void
  /** Ends the span; an error marks it as failed. */
  end(error?: unknown): void
}
