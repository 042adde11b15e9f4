import { z } from 'zod'
import { Condition } from '../conditions/condition.ts'
import { EventEntry } from './record.ts'

/** One time that something inbound was open, as it is kept beyond the store: all that is needed to go on with it. */
export const EventEpisode = z.object({
  /** Where its entry is. */
  place: z.string().max(40),
  entry: EventEntry.extend({ condition: Condition }),
  /** Null while it lasts. */
  endedAtMs: z.number().int().nullable(),
})
export type EventEpisode = z.infer<typeof EventEpisode>

/** Keeps them where they last: in the state database, or in memory where there is none. */
export interface EventEpisodes {
  /** Those that have not ended, as last written. */
  open(): Promise<readonly EventEpisode[]>
  /** Adds them or brings them up to date by the name of their episode. */
  write(episodes: readonly EventEpisode[]): Promise<void>
  /** Removes those that ended before; says how many. */
  prune(beforeMs: number): Promise<number>
}
