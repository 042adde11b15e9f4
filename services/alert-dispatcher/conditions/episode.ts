import type { Severity } from '#proto/rules.ts'
import type { Condition, Silence } from './condition.ts'

/** One time of being not ok, as it is kept beyond the store of conditions. */
export interface Episode {
  hostKey: string
  /** As last written; all that is needed to go on with it. */
  condition: Condition
  /** Null while it lasts. */
  endedAtMs: number | null
}

/** Something that became of an episode: a line of the history. */
export interface Happening {
  id: string
  episode: string
  /** Null of an inbound event, which is about no host of the list. */
  hostKey: string | null
  ruleId: string
  title: string
  /** `held` is a notice that was due and not sent, told once for each reason; `lower` tells nobody. */
  kind: 'fire' | 'escalate' | 'lower' | 'remind' | 'recover' | 'held'
  severity: Severity
  value: number | null
  threshold: number | null
  sinceMs: number
  atMs: number
  /** Why, in words; of `held` one of `heldReasons`. */
  reason: string
}

/** What operators said about one episode. */
export interface Settled {
  episode: string
  acknowledged: Silence | null
  dismissed: Silence | null
}

/** Episodes and their history, for as long as the retention says; the state of conditions can be made again from it. */
export interface Episodes {
  /** Those that have not ended, as last written. */
  open(): Promise<readonly Episode[]>
  /** Adds episodes or brings them up to date by their name, and adds to the history. */
  write(episodes: readonly Episode[], happenings: readonly Happening[]): Promise<void>
  /** What operators have said about episodes that have not ended. */
  settled(): Promise<readonly Settled[]>
}
