import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { Condition } from '../conditions/condition.ts'

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

/** At most so many may be open over all records. */
export const mostOpen = 10_000

/** Many things, by the digest of source and key: one of several records, so that no write carries them all. */
export const EventRecord = z.object({
  entries: z
    .record(z.string(), EventEntry)
    .refine((entries) => Object.keys(entries).length <= 2 * mostOpen, `at most ${2 * mostOpen} entries`),
})
export type EventRecord = z.infer<typeof EventRecord>

/** How much each record holds, by its name. */
const Summary = z.object({ open: z.int().min(0), entries: z.int().min(0) })
export type Summary = z.infer<typeof Summary>
export const EventIndex = z.record(z.string().max(16), Summary)
export type EventIndex = z.infer<typeof EventIndex>

export const indexKey = 'alerts:events'
export const recordKey = (name: string): string => `alerts:events:${name}`

/** The record of the one entry that stands for those for which there was no room. */
export const overflowName = 'overflow'

/** The record that has an event's entry, and its name there: one of 256, by chance alike. */
export const placeOf = ({ source, dedupKey }: Pick<InboundEvent, 'source' | 'dedupKey'>) => {
  const id = createHash('sha256')
    .update(JSON.stringify([source, dedupKey]))
    .digest('hex')
    .slice(0, 40)
  return { name: id.slice(0, 2), id }
}

/** What the index says of a record; of none that it is empty. */
export const summaryOf = (record: EventRecord | undefined): Summary => {
  const all = Object.values(record?.entries ?? {})
  return { open: all.filter(({ condition }) => condition !== null).length, entries: all.length }
}

/** Things that are open, over all records but that of the overflow. */
export const openIn = (index: EventIndex): number =>
  Object.entries(index).reduce((sum, [name, { open }]) => (name === overflowName ? sum : sum + open), 0)

/** Things that are open, the one that stands for the overflow among them. */
export const firingIn = (index: EventIndex): number => Object.values(index).reduce((sum, { open }) => sum + open, 0)
