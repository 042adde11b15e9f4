import type { HeldReason } from '../conditions/condition.ts'
import type { Episode, Happening } from '../conditions/episode.ts'
import type { HostSummary } from '../conditions/fleet-record.ts'
import type { SweptHost } from './sweep-host.ts'

/** What one sweep did. */
export interface Swept {
  hosts: number
  checks: number
  /** Checks that were not ok. */
  findings: number
  /** Conditions that fire now. */
  firing: number
  /** Notices handed on, recoveries among them. */
  dispatched: number
  /** Notices that were due and not handed on, by why. */
  suppressed: Partial<Record<HeldReason, number>>
  recoveries: number
  unknown: number
  tookMs: number
}

/** What a sweep has done so far. */
export interface Tally {
  swept: Swept
  hosts: Record<string, HostSummary>
  /** To be kept beside the store, at the end and all at once. */
  episodes: Episode[]
  happenings: Happening[]
}

export const newTally = (): Tally => ({
  swept: {
    hosts: 0,
    checks: 0,
    findings: 0,
    firing: 0,
    dispatched: 0,
    suppressed: {},
    recoveries: 0,
    unknown: 0,
    tookMs: 0,
  },
  hosts: {},
  episodes: [],
  happenings: [],
})

/** Adds one host. `open` are the episodes that are kept as open already; undefined where that cannot be told. */
export const count = (
  { swept, hosts, episodes, happenings }: Tally,
  hostKey: string,
  { decision, summary }: SweptHost,
  open: ReadonlySet<string> | undefined,
): void => {
  const { verdicts, notices, held, record } = decision
  hosts[hostKey] = summary
  swept.checks += verdicts.length
  swept.unknown += verdicts.filter(({ status }) => status === 'unknown').length
  swept.findings += verdicts.filter(({ status }) => status === 'warning' || status === 'critical').length
  swept.firing += summary.firing
  swept.dispatched += notices.length
  swept.recoveries += notices.filter(({ kind }) => kind === 'recover').length
  for (const [reason, times] of Object.entries(held)) {
    // The keys are those of `held`, and `suppressed` has the same.
    const name = reason as HeldReason
    swept.suppressed[name] = (swept.suppressed[name] ?? 0) + times
  }
  const fired = Object.values(record.conditions).filter(({ phase }) => phase !== 'pending')
  const missing = open ? fired.filter(({ episode }) => !open.has(episode)) : []
  episodes.push(...missing.map((condition) => ({ hostKey, condition, endedAtMs: null })), ...decision.episodes)
  happenings.push(...decision.happenings)
}
