import { ServiceError } from '#proto/errors.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { FleetRecord } from '../conditions/fleet-record.ts'
import type { Told } from '../conditions/tell.ts'

/** What sweeps and ticks show of themselves as metrics. */
export interface Observe {
  /** Passes on what a sweep resolves or rejects with. */
  sweep<T>(sweeping: Promise<T>): Promise<T>
  fleet(fleet: FleetRecord): void
  told(told: Pick<Told, 'notices' | 'happenings'>): void
}

export const openObserve = ({ metrics: registry }: Pick<Telemetry, 'metrics'>): Observe => {
  const duration = metrics.sweepDuration(registry)
  const firing = metrics.conditionsFiring(registry)
  const unknown = metrics.rulesUnknown(registry)
  const handedOn = metrics.noticesHandedOn(registry)
  const suppressed = metrics.noticesSuppressed(registry)
  return {
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
    fleet({ hosts }) {
      const summaries = Object.values(hosts)
      firing.set(summaries.reduce((sum, host) => sum + host.firing, 0))
      unknown.set(summaries.reduce((sum, host) => sum + host.unknown, 0))
    },
    told({ notices, happenings }) {
      for (const { kind } of notices) handedOn.inc({ kind })
      for (const { kind, reason } of happenings) if (kind === 'held') suppressed.inc({ reason })
    },
  }
}
