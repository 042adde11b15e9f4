import {
  type Context as TraceContext,
  ROOT_CONTEXT,
  SpanKind as OtelKind,
  SpanStatusCode,
  createTraceState,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { W3cTraceContext } from '#proto/call.ts'
import { metrics } from './metrics.ts'
import type { Span, SpanKind, Tracer } from './telemetry.ts'
import { traceParentPattern, type Tracers, type TracingOptions } from './tracing.ts'

/** The fields of a W3C `traceparent` header (https://www.w3.org/TR/trace-context/#traceparent-header). */
interface TraceParent {
  traceId: string
  spanId: string
  /** Only the lowest bit is used: whether the caller records this trace. */
  flags: number
}

/** Parses the `traceparent` of a trace context; undefined if it is missing or invalid, which starts a new trace. */
export const parseTraceParent = (trace: W3cTraceContext | undefined): TraceParent | undefined => {
  const [, traceId, spanId, flags] = traceParentPattern.exec(trace?.traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** Formats the `traceparent` header of a span. */
export const formatTraceParent = ({ traceId, spanId, flags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`

const maxWaitingSpans = 2_048
const maxSpansPerExport = 512
const exportEveryMs = 1_000
const exportTimeoutMs = 5_000

const kinds: Record<SpanKind, OtelKind> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  internal: OtelKind.INTERNAL,
}

/** Exports spans over OTLP/HTTP, with one batch queue for the process and one resource per service. */
export const openSpanExport = (url: URL, options: TracingOptions): Tracers => {
  const exporter = new OTLPTraceExporter({ url: url.href, timeoutMillis: exportTimeoutMs })
  const processor = new BatchSpanProcessor({
    exporter: wrapExporter(exporter, options),
    maxQueueSize: maxWaitingSpans,
    maxExportBatchSize: maxSpansPerExport,
    scheduledDelayMillis: exportEveryMs,
    exportTimeoutMillis: exportTimeoutMs,
  })
  return {
    tracer: (service) => {
      const provider = new TracerProvider({
        resource: resourceFromAttributes({
          'service.name': service,
          'service.namespace': 'watchhouse',
          'service.version': options.version,
          'service.instance.id': options.instance,
        }),
        sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
        spanProcessors: [processor],
      })
      return createTracer(provider)
    },
    [Symbol.asyncDispose]: () => processor.shutdown(),
  }
}

/** Wraps an exporter: counts sent and lost spans, and logs only the first failure and the recovery. */
const wrapExporter = (exporter: SpanExporter, { log, registry }: TracingOptions): SpanExporter => {
  const spans = metrics.spansExported(registry)
  let losing = false
  return {
    export: (batch, done) =>
      exporter.export(batch, (result) => {
        const lost = result.error !== undefined
        spans.inc({ outcome: lost ? 'lost' : 'sent' }, batch.length)
        if (lost && !losing) log.warn({ err: result.error }, 'span export failed; spans are lost')
        if (!lost && losing) log.info('span export recovered')
        losing = lost
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}

const createTracer = (provider: TracerProvider): Tracer => {
  const source = provider.getTracer('watchhouse')
  return {
    isExporting: true,
    start: (name, kind, parent, attributes) => {
      const span = source.startSpan(name, { kind: kinds[kind], attributes: attributes ?? {} }, toTraceContext(parent))
      const { traceId, spanId, traceFlags, traceState } = span.spanContext()
      const state = traceState?.serialize()
      return {
        trace: {
          traceparent: formatTraceParent({ traceId, spanId, flags: traceFlags }),
          ...(state ? { tracestate: state } : {}),
        },
        set: (more) => void span.setAttributes(more),
        end: (error) => {
          if (error !== undefined) {
            // Error messages may quote a statement with personal data, so only the code is exported.
            span.setAttribute('error.type', formatErrorType(error))
            span.setStatus({ code: SpanStatusCode.ERROR, message: formatErrorType(error) })
          }
          span.end()
        },
      } satisfies Span
    },
  }
}

const toTraceContext = (parent: W3cTraceContext | undefined): TraceContext => {
  const known = parseTraceParent(parent)
  if (!known) return ROOT_CONTEXT
  const { traceId, spanId, flags } = known
  const state = parent?.tracestate
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags & 1,
    isRemote: true,
    ...(state ? { traceState: createTraceState(state) } : {}),
  })
}

const formatErrorType = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}
