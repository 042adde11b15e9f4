import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { query } from '#proto/query.ts'
import type { Context } from '#shared/lifecycle/service.ts'
import type { Episodes } from './conditions/condition.ts'
import type { EventEpisodes } from './events/record.ts'
import type { Notice } from './notice.ts'
import type { Observe } from './sweeps/observe.ts'
import type { WarnOfBrokenChannels, WarnOfUnsoundRules } from './policy/warnings.ts'
import type { Policy } from './policy.ts'

/** What sweeps and ticks work with. */
export interface Parts extends Pick<Context, 'env' | 'store' | 'clock' | 'net' | 'telemetry'> {
  query: Client<typeof query>
  /** What operators have settled, as of now. */
  policy(): Promise<Policy>
  episodes: Episodes
  eventEpisodes: EventEpisodes
  /** Whether a target that is to get the notice has not, as far as that is on record. */
  isMissed(notice: Notice): Promise<boolean>
  /** Whether episodes outlive this process: else the store knows better. */
  isLasting: boolean
  observe: Observe
  warnOfUnsoundRules: WarnOfUnsoundRules
  warnOfLostRoutes(policy: Policy): void
  warnOfBrokenChannels: WarnOfBrokenChannels
}

/** Asked for the product itself, behind whoever waits at a screen. */
export const ownCall = ({ clock }: Pick<Parts, 'clock'>, withinMs: number, signal: AbortSignal): Call => ({
  identity: { kind: 'service', subject: 'alert-dispatcher', features: 'all' },
  deadline: clock.elapsedMs() + withinMs,
  signal,
  priority: 'sweep',
})
