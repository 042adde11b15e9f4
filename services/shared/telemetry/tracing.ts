import type { Registry } from 'prom-client'
import type { Logger } from 'pino'
import type { W3cTraceContext } from '#proto/call.ts'
import type { Span, Tracer } from './telemetry.ts'

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

const createNoopSpan = (trace: W3cTraceContext | undefined): Span => ({ trace, set: () => {}, end: () => {} })

const emptySpan: Span = createNoopSpan(undefined)

/** Tracers without an exporter: they create no spans and forward the trace context of the caller unchanged. */
export const noopTracers: Tracers = {
  tracer: () => ({ start: (_name, _kind, parent) => (parent === undefined ? emptySpan : createNoopSpan(parent)) }),
  [Symbol.asyncDispose]: async () => {},
}
