import { hash } from 'node:crypto'
import { z } from 'zod'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { type Clock, adjustForClockJumps } from '#shared/time/clock.ts'
import { Condition, adjustCondition } from '../conditions/condition.ts'

const Milliseconds = z.number().int()

/** Stored state of the events with one source and deduplication key. */
export const EventEntry = z.object({
  source: z.string().max(128),
  /** Null after the condition closed. The entry is kept for `closedEntryTtlMs`, so that late events are recognized. */
  condition: Condition.nullable(),
  /** Time of the newest event. */
  occurredAtMs: Milliseconds,
  endsAtMs: Milliseconds.nullable(),
  /** When the last event arrived. */
  seenAtMs: Milliseconds,
})
export type EventEntry = z.infer<typeof EventEntry>

/** Adjusts the timestamps of an entry if the system clock was set since. Times from the source stay unchanged. */
export const adjustEntry = (entry: EventEntry, clock: Clock): EventEntry => ({
  ...entry,
  condition: entry.condition && adjustCondition(entry.condition, clock),
  seenAtMs: adjustForClockJumps(clock, entry.seenAtMs),
})

/** Maximum number of open conditions. */
export const maxOpenConditions = 10_000

/** Id of the overflow entry, which represents all events beyond `maxOpenConditions`. */
export const overflowEntryId = 'overflow'

/** Returns the id of an entry: the hash of source and deduplication key. */
export const deriveEntryId = ({ source, dedupKey }: Pick<InboundEvent, 'source' | 'dedupKey'>): string =>
  hash('sha256', JSON.stringify([source, dedupKey])).slice(0, 40)

export const getEventEntryKey = (place: string): string => `alerts:events:entry:${place}`

/** How long late events are recognized after a condition closes. */
export const closedEntryTtlMs = 60 * 60_000

/** Returns whether an entry is open, or closed recently. A clock that was set back must not keep it forever. */
export const isEntryRetained = ({ condition, seenAtMs }: EventEntry, nowMs: number): boolean =>
  condition !== null || Math.abs(nowMs - seenAtMs) <= closedEntryTtlMs

/** One activation of an inbound condition, as the state database stores it. */
export const EventEpisode = z.object({
  /** Id of the entry that the episode belongs to. */
  place: z.string().max(40),
  entry: EventEntry.extend({ condition: Condition }),
  /** Null while the episode is open. */
  endedAtMs: z.number().int().nullable(),
})
export type EventEpisode = z.infer<typeof EventEpisode>

/** Episodes of inbound conditions, in the state database or in memory without one. */
export interface EventEpisodes {
  /** Returns open episodes in their last written state. */
  open(): Promise<readonly EventEpisode[]>
  /** Returns the newest thousand episodes that ended since the given time. */
  ended(sinceMs: number): Promise<readonly EventEpisode[]>
  /** Inserts or updates episodes by their id. */
  write(episodes: readonly EventEpisode[]): Promise<void>
  /** Deletes episodes that ended before the given time and returns their number. */
  prune(beforeMs: number): Promise<number>
}
