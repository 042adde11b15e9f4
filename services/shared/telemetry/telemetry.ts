import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import type { Trace } from '#proto/call.ts'

/** Logs, metrics and traces of one service. */
export interface Telemetry {
  log: Logger
  /** Metrics of the whole process, scraped at `/metrics`; names begin with `watchhouse_`. */
  metrics: Registry
  tracer: Tracer
}

/** The side of a call that a span covers. */
export type SpanKind = 'server' | 'client' | 'internal'
/** Facts of a span; never text of statements. */
export type SpanAttributes = Record<string, string | number | boolean>

/** Creates spans if an exporter is configured. */
export interface Tracer {
  /** Starts a span under `parent`, or a new trace without one. */
  start(name: string, kind: SpanKind, parent: Trace | undefined, attributes?: SpanAttributes): Span
}

/** One piece of work in a trace. */
export interface Span {
  /** Context for the work inside the span; without an exporter the parent's, unchanged. */
  readonly trace: Trace | undefined
  set(attributes: SpanAttributes): void
  /** Ends the span; an error marks it failed. */
  end(error?: unknown): void
}
