import type { CallContext, ServiceName, W3cTraceContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { metrics } from '../telemetry/metrics.ts'
import type { SpanKind, Telemetry } from '../telemetry/telemetry.ts'
import { startChildSpan } from '../telemetry/tracing.ts'

/** Labels of a call in metrics and traces. All values come from contracts, so their number is bounded. */
export interface CallLabels {
  service: ServiceName
  method: string
  caller: ServiceName
}

/** The observation of one call in progress. */
export interface CallObservation {
  /** Trace context for the work inside the call. */
  trace: W3cTraceContext | undefined
  /** Records how the call ended; only the first call counts. */
  end(error?: unknown): void
}

/** Measures and traces the calls of one bus. */
export interface CallObserver {
  /** Starts observing an outgoing call. Its duration is the waiting time of the caller. */
  outgoing(labels: CallLabels, call: Pick<CallContext, 'trace' | 'signal'>): CallObservation
  /** Starts observing an incoming call. */
  incoming(labels: CallLabels, call: Pick<CallContext, 'trace'>): CallObservation
}

/** Returns an observer that records calls in the telemetry of a service; without telemetry it does nothing. */
export const createCallObserver = (telemetry: Telemetry | undefined): CallObserver => {
  if (!telemetry) return { outgoing: startNoopObservation, incoming: startNoopObservation }
  const duration = metrics.busRequestDuration(telemetry.metrics)
  const inFlight = new Map<ServiceName, number>()
  metrics.busInFlight(telemetry.metrics, () =>
    [...inFlight].map(([service, value]) => ({ labels: { service }, value })),
  )
  const count = (service: ServiceName, by: number): void =>
    void inFlight.set(service, (inFlight.get(service) ?? 0) + by)
  const span = ({ service, method, caller }: CallLabels, kind: SpanKind, call: Pick<CallContext, 'trace'>) =>
    startChildSpan(telemetry.tracer, `${service}.${method}`, kind, call.trace, {
      'rpc.service': service,
      'rpc.method': method,
      caller,
    })

  return {
    outgoing(labels, call) {
      const started = performance.now()
      const client = span(labels, 'client', call)
      return createObservation(client.trace, (error) => {
        const seconds = (performance.now() - started) / 1_000
        duration.observe({ ...labels, outcome: findOutcome(error, call.signal) }, seconds)
        client.end(error)
      })
    },
    incoming(labels, call) {
      const { service } = labels
      count(service, 1)
      const server = span(labels, 'server', call)
      return createObservation(server.trace, (error) => {
        count(service, -1)
        server.end(error)
      })
    },
  }
}

const startNoopObservation: CallObserver['outgoing'] = (_labels, { trace }) => ({ trace, end: () => {} })

const createObservation = (trace: W3cTraceContext | undefined, end: CallObservation['end']): CallObservation => {
  let ended = false
  return {
    trace,
    end(error) {
      if (ended) return
      ended = true
      end(error)
    },
  }
}

/** Returns whether a monitored host failed. The services reached each other, so such calls have their own outcome. */
const isHostFailure = ({ code, details }: ServiceError): boolean =>
  code === 'unavailable' && details?.host !== undefined

const findOutcome = (error: unknown, signal: AbortSignal): string => {
  if (error === undefined) return 'ok'
  if (error instanceof ServiceError) return isHostFailure(error) ? 'host-unavailable' : error.code
  const left = error instanceof DOMException && error.name === 'AbortError'
  return left || (signal.aborted && error === signal.reason) ? 'cancelled' : 'internal'
}
