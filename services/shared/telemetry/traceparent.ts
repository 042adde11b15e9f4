import type { Trace } from '#proto/call.ts'

/** The parts of a W3C `traceparent`, as https://www.w3.org/TR/trace-context/#traceparent-header lays them out. */
export interface TraceParent {
  traceId: string
  spanId: string
  /** Only the lowest bit means something: the caller records this trace. */
  flags: number
}

const layout = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** The parent of a span, or undefined when there is none or its header is malformed: then a new trace begins. */
export const parseTraceParent = (trace: Trace | undefined): TraceParent | undefined => {
  const [, traceId, spanId, flags] = layout.exec(trace?.traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** The header that hands a span on. */
export const formatTraceParent = ({ traceId, spanId, flags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
