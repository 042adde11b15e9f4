import type { Registry } from 'prom-client'
import { ServiceError } from '#proto/errors.ts'
import type { Environment } from '#shared/config/environment.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import { type OutageLog, openOutageLog } from '#shared/telemetry/outage.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import { adjustForClockJumps, recordInstant } from '#shared/time/clock.ts'
import type { FleetRecord } from '../conditions/fleet-record.ts'
import type { NotifyResult } from '../conditions/notify.ts'
import { type SweepPlan, getSweepIntervalSeconds, resolveSweepPlan } from './sweep-settings.ts'

/** Records metrics of sweeps and ticks. */
export interface SweepMetrics {
  /** Measures the duration and outcome of a sweep, and returns its result or throws its error. */
  sweep<T>(running: Promise<T>): Promise<T>
  /** Sets the metrics of all hosts: firing conditions, rules without data, last successful sweep. */
  fleet(fleet: FleetRecord): void
  /** Sets the configured interval. */
  plan(plan: SweepPlan): void
  /** Sets the number of open inbound conditions. */
  inbound(open: number): void
  /** Counts sent and held notifications. */
  notified(notified: Pick<NotifyResult, 'notifications' | 'transitions'>): void
  /** Tracks whether the history of inbound events can be written. */
  history: OutageLog
}

const historyMessages = {
  begins: 'writing inbound event history failed',
  ends: 'writing inbound event history recovered',
}

export const openSweepMetrics = ({
  telemetry,
  env,
  clock,
}: Pick<ServiceContext, 'telemetry' | 'env' | 'clock'>): SweepMetrics => {
  const { metrics: registry, log } = telemetry
  const duration = metrics.sweepDuration(registry)
  // Before the first sweep, the metric reports the start time of this process.
  const startedAtMs = recordInstant(clock)
  let succeededAtMs = startedAtMs
  // Prometheus compares the timestamp with its own clock, so it is adjusted when the clock of this host is set.
  metrics.sweepSucceeded(registry, () => [{ labels: {}, value: adjustForClockJumps(clock, succeededAtMs) / 1_000 }])
  const plan = trackSweepPlan(registry, env)
  const firing = metrics.conditionsFiring(registry)
  const unknown = metrics.rulesUnknown(registry)
  const handedOn = metrics.notificationsDispatched(registry)
  const suppressed = metrics.notificationsSuppressed(registry)
  const counts = { ofHosts: 0, inbound: 0 }
  const showFiring = () => firing.set(counts.ofHosts + counts.inbound)
  return {
    history: openOutageLog(log, historyMessages),
    async sweep(running) {
      const took = duration.startTimer()
      try {
        const swept = await running
        took({ outcome: 'ok' })
        return swept
      } catch (error) {
        took({ outcome: error instanceof ServiceError ? error.code : 'internal' })
        throw error
      }
    },
    fleet({ hosts, succeededAtMs: storedAtMs }) {
      const storedMs = storedAtMs ?? 0
      const isNewer = adjustForClockJumps(clock, storedMs) > adjustForClockJumps(clock, startedAtMs)
      succeededAtMs = isNewer ? storedMs : startedAtMs
      const summaries = Object.values(hosts)
      counts.ofHosts = summaries.reduce((sum, host) => sum + host.firing, 0)
      showFiring()
      unknown.set(summaries.reduce((sum, host) => sum + host.unknown, 0))
    },
    plan,
    inbound(open) {
      counts.inbound = open
      showFiring()
    },
    notified({ notifications, transitions }) {
      for (const { kind } of notifications) handedOn.inc({ kind })
      for (const { kind, reason } of transitions) if (kind === 'held') suppressed.inc({ reason })
    },
  }
}

/** Returns a function that sets the plan for the interval metric. */
const trackSweepPlan = (registry: Registry, env: Environment): ((current: SweepPlan) => void) => {
  // Before the first tick, the saved interval is unknown.
  let plan = resolveSweepPlan(env)
  metrics.sweepInterval(registry, () => [{ labels: {}, value: getSweepIntervalSeconds(plan) }])
  return (current) => {
    plan = current
  }
}
