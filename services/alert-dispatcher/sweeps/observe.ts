import { ServiceError } from '#proto/errors.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { type Outage, openOutage } from '#shared/telemetry/outage.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import { follow, instant } from '#shared/time/clock.ts'
import type { FleetRecord } from '../conditions/fleet-record.ts'
import type { Told } from '../conditions/tell.ts'
import { sweepIntervalMs } from './sweep-settings.ts'

/** What sweeps and ticks show of themselves as metrics. */
export interface Observe {
  /** Passes on what a sweep resolves or rejects with. */
  sweep<T>(sweeping: Promise<T>): Promise<T>
  fleet(fleet: FleetRecord): void
  /** How many conditions of inbound events are open. */
  inbound(open: number): void
  told(told: Pick<Told, 'notices' | 'happenings'>): void
  /** Hears whether the history of inbound events can be kept. */
  history: Outage
}

export const openObserve = ({ telemetry, env, clock }: Pick<Context, 'telemetry' | 'env' | 'clock'>): Observe => {
  const { metrics: registry, log } = telemetry
  const duration = metrics.sweepDuration(registry)
  // Before the first sweep the time counts from the start, however long nothing ran before.
  const startedAtMs = instant(clock)
  let succeededAtMs = startedAtMs
  // Prometheus compares it with its own clock, so it moves with ours when that is set.
  metrics.sweepSucceeded(registry, () => [{ labels: {}, value: follow(clock, succeededAtMs) / 1_000 }])
  metrics.sweepInterval(registry, () => [{ labels: {}, value: sweepIntervalMs(env) / 1_000 }])
  const firing = metrics.conditionsFiring(registry)
  const unknown = metrics.rulesUnknown(registry)
  const handedOn = metrics.noticesHandedOn(registry)
  const suppressed = metrics.noticesSuppressed(registry)
  const counts = { ofHosts: 0, inbound: 0 }
  const showFiring = () => firing.set(counts.ofHosts + counts.inbound)
  const history = openOutage(log, {
    begins: 'the history of inbound events cannot be kept',
    ends: 'the history of inbound events is kept again',
  })
  return {
    history,
    async sweep(sweeping) {
      const took = duration.startTimer()
      try {
        const swept = await sweeping
        took({ outcome: 'ok' })
        return swept
      } catch (error) {
        took({ outcome: error instanceof ServiceError ? error.code : 'internal' })
        throw error
      }
    },
    fleet({ hosts, succeededAtMs: storedAtMs }) {
      succeededAtMs = follow(clock, storedAtMs ?? 0) > follow(clock, startedAtMs) ? (storedAtMs ?? 0) : startedAtMs
      const summaries = Object.values(hosts)
      counts.ofHosts = summaries.reduce((sum, host) => sum + host.firing, 0)
      showFiring()
      unknown.set(summaries.reduce((sum, host) => sum + host.unknown, 0))
    },
    inbound(open) {
      counts.inbound = open
      showFiring()
    },
    told({ notices, happenings }) {
      for (const { kind } of notices) handedOn.inc({ kind })
      for (const { kind, reason } of happenings) if (kind === 'held') suppressed.inc({ reason })
    },
  }
}
