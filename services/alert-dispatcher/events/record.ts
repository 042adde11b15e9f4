import { hash } from 'node:crypto'
import { z } from 'zod'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { type Clock, follow } from '#shared/time/clock.ts'
import { Condition, followCondition } from '../conditions/condition.ts'

const Milliseconds = z.number().int()

/** One thing that a source tells of by one key. */
export const EventEntry = z.object({
  source: z.string().max(128),
  /** Null when it is over: kept for a while, so that what comes late is known to be old. */
  condition: Condition.nullable(),
  /** Of the newest event about it. */
  occurredAtMs: Milliseconds,
  endsAtMs: Milliseconds.nullable(),
  /** When it was heard of last. */
  seenAtMs: Milliseconds,
})
export type EventEntry = z.infer<typeof EventEntry>

/** The entry with instants that keep their age when the clock is set; those that its source stated stay as they are. */
export const followedEntry = (entry: EventEntry, clock: Clock): EventEntry => ({
  ...entry,
  condition: entry.condition && followCondition(entry.condition, clock),
  seenAtMs: follow(clock, entry.seenAtMs),
})

/** At most so many may be open. */
export const mostOpen = 10_000

/** The place of the one entry that stands for those for which there was no room. */
export const overflowPlace = 'overflow'

/** Where an event's entry is, by the digest of source and key. */
export const placeOf = ({ source, dedupKey }: Pick<InboundEvent, 'source' | 'dedupKey'>): string =>
  hash('sha256', JSON.stringify([source, dedupKey])).slice(0, 40)

export const entryKey = (place: string): string => `alerts:events:entry:${place}`

/** Late events are known to be old for this long. */
export const rememberedMs = 60 * 60_000

/** Whether an entry still says anything. A clock that was set back must not keep what is over for ever. */
export const isRemembered = ({ condition, seenAtMs }: EventEntry, nowMs: number): boolean =>
  condition !== null || Math.abs(nowMs - seenAtMs) <= rememberedMs

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
  /** Those that ended since, as last written: the newest thousand. */
  ended(sinceMs: number): Promise<readonly EventEpisode[]>
  /** Adds them or brings them up to date by the name of their episode. */
  write(episodes: readonly EventEpisode[]): Promise<void>
  /** Removes those that ended before; says how many. */
  prune(beforeMs: number): Promise<number>
}
