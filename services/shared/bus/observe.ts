import type { Call, ServiceName, Trace } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { metrics } from '../telemetry/metrics.ts'
import type { SpanKind, Telemetry } from '../telemetry/telemetry.ts'

/** Which method of which service, asked by whom: all values come from contracts, so labels are bounded. */
export interface Asked {
  service: ServiceName
  method: string
  caller: ServiceName
}

/** One call being watched. */
export interface Observed {
  /** Trace context for whatever happens inside. */
  trace: Trace | undefined
  /** Says how it ended; only the first time counts. */
  end(error?: unknown): void
}

/** Measures and traces the calls of one bus. */
export interface Observer {
  /** A call that this process makes: its duration is what the caller waited. */
  asking(asked: Asked, call: Pick<Call, 'trace' | 'signal'>): Observed
  /** A call that this process answers. */
  answering(asked: Asked, call: Pick<Call, 'trace'>): Observed
}

/** An observer that writes to a service's telemetry, or one that costs nothing when there is none. */
export const observeWith = (telemetry: Telemetry | undefined): Observer => {
  if (!telemetry) return { asking: unobserved, answering: unobserved }
  const duration = metrics.busRequestDuration(telemetry.metrics)
  const inFlight = new Map<ServiceName, number>()
  metrics.busInFlight(telemetry.metrics, () =>
    [...inFlight].map(([service, value]) => ({ labels: { service }, value })),
  )
  const count = (service: ServiceName, by: number): void =>
    void inFlight.set(service, (inFlight.get(service) ?? 0) + by)
  const span = ({ service, method, caller }: Asked, kind: SpanKind, call: Pick<Call, 'trace'>) =>
    telemetry.tracer.start(`${service}.${method}`, kind, call.trace, {
      'rpc.service': service,
      'rpc.method': method,
      caller,
    })

  return {
    asking(asked, call) {
      const started = performance.now()
      const client = span(asked, 'client', call)
      return endingOnce(client.trace, (error) => {
        const seconds = (performance.now() - started) / 1_000
        duration.observe({ ...asked, outcome: outcomeOf(error, call.signal) }, seconds)
        client.end(error)
      })
    },
    answering(asked, call) {
      const { service } = asked
      count(service, 1)
      const server = span(asked, 'server', call)
      return endingOnce(server.trace, (error) => {
        count(service, -1)
        server.end(error)
      })
    },
  }
}

const unobserved: Observer['asking'] = (_asked, { trace }) => ({ trace, end: () => {} })

const endingOnce = (trace: Trace | undefined, end: Observed['end']): Observed => {
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

const outcomeOf = (error: unknown, signal: AbortSignal): string => {
  if (error === undefined) return 'ok'
  if (error instanceof ServiceError) return error.code
  const left = error instanceof DOMException && error.name === 'AbortError'
  return left || (signal.aborted && error === signal.reason) ? 'cancelled' : 'internal'
}
