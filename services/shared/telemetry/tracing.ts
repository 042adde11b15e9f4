import type { Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { W3cTraceContext } from '#proto/call.ts'
import type { Span, SpanAttributes, SpanKind, Tracer } from './telemetry.ts'

/** Options of tracing: the exporter, attributes of the process, and the log for export failures. */
export interface TracingOptions {
  /** OTLP/HTTP traces URL including its path, as the operator wrote it. */
  exporterUrl: string | undefined
  instance: string
  version: string
  log: Logger
  registry: Registry
}

/** The tracers of one process; disposing exports the remaining spans. */
export interface Tracers extends AsyncDisposable {
  tracer(service: string): Tracer
}

/** Returns the tracers of a process. Loads OpenTelemetry only if an exporter is configured. */
export const openTracing = async (options: TracingOptions): Promise<Tracers> => {
  const url = parseExporterUrl(options)
  if (url === undefined) return noopTracers
  const { openSpanExport } = await import('./span-export.ts')
  return openSpanExport(url, options)
}

const parseExporterUrl = ({ exporterUrl, log }: TracingOptions): URL | undefined => {
  if (exporterUrl === undefined) return undefined
  const url = URL.canParse(exporterUrl) ? new URL(exporterUrl) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  log.warn('SVC_OTEL_EXPORTER_URL is not an absolute http(s) URL; tracing is disabled')
  return undefined
}

/** Matches a W3C `traceparent` (https://www.w3.org/TR/trace-context/#traceparent-header): trace id, span id and flags. */
export const traceParentPattern =
  /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/
const traceStatePattern = /^[\x20-\x7e]{1,512}$/

/** Returns the W3C trace context in headers or message metadata; undefined without a valid `traceparent`. */
export const toTraceContext = (fields: Readonly<Record<string, unknown>>): W3cTraceContext | undefined => {
  const { traceparent, tracestate } = fields
  if (typeof traceparent !== 'string' || !traceParentPattern.test(traceparent)) return undefined
  return typeof tracestate === 'string' && traceStatePattern.test(tracestate)
    ? { traceparent, tracestate }
    : { traceparent }
}

const createNoopSpan = (trace: W3cTraceContext | undefined): Span => ({ trace, set: () => {}, end: () => {} })

const emptySpan: Span = createNoopSpan(undefined)

/**
 * Starts a span within a trace. Work without a trace, such as probes, sweeps and other polls, gets no span: such traces
 * of one span each would bury those of requests.
 */
export const startChildSpan = (
  tracer: Tracer,
  name: string,
  kind: SpanKind,
  parent: W3cTraceContext | undefined,
  attributes?: SpanAttributes,
): Span => (parent === undefined ? emptySpan : tracer.start(name, kind, parent, attributes))

/** Tracers without an exporter: they create no spans and forward the trace context of the caller unchanged. */
export const noopTracers: Tracers = {
  tracer: () => ({
    isExporting: false,
    start: (_name, _kind, parent) => (parent === undefined ? emptySpan : createNoopSpan(parent)),
  }),
  [Symbol.asyncDispose]: async () => {},
}
