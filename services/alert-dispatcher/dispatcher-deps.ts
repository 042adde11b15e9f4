import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { ServiceContext } from '#shared/lifecycle/service.ts'
import type { Episodes } from './conditions/condition.ts'
import type { EventEpisodes } from './events/event-entry.ts'
import type { Notification } from './notification.ts'
import type { SweepMetrics } from './sweeps/sweep-metrics.ts'
import type { BrokenChannelReporter, InvalidRuleReporter } from './policy/warnings.ts'
import type { Policy } from './policy.ts'

/** Dependencies of sweeps and ticks. */
export interface DispatcherDeps extends Pick<ServiceContext, 'env' | 'store' | 'clock' | 'net' | 'telemetry'> {
  query: ServiceClient<typeof query>
  /** Returns the current alert configuration. */
  policy(): Promise<Policy>
  episodes: Episodes
  eventEpisodes: EventEpisodes
  /** Returns whether a target that should have received the notification has no stored delivery. */
  isMissed(notification: Notification): Promise<boolean>
  /** Whether episodes outlive this process. If not, the state store is authoritative. */
  isPersistent: boolean
  observe: SweepMetrics
  warnOfInvalidRules: InvalidRuleReporter
  warnOfLostRoutes(policy: Policy): void
  warnOfBrokenChannels: BrokenChannelReporter
}

/** Returns the context of a call that the dispatcher makes itself, with lower priority than user requests. */
export const createServiceCall = (
  { clock }: Pick<DispatcherDeps, 'clock'>,
  withinMs: number,
  signal: AbortSignal,
): CallContext => ({
  identity: { kind: 'service', subject: 'alert-dispatcher', features: 'all' },
  deadline: clock.elapsedMs() + withinMs,
  signal,
  priority: 'sweep',
})
