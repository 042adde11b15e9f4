import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import type { Condition } from '../conditions/condition.ts'
import { runConcurrently } from '../run-concurrently.ts'
import { EventEntry, getEventEntryKey, overflowEntryId, closedEntryTtlMs } from './event-entry.ts'

const Place = z.string().max(40)

/**
 * The ids of the entries in one bucket, which have the same hash prefix. `over` contains those that closed recently,
 * the newest last.
 */
export const EventBucket = z.object({ open: z.array(Place), over: z.array(Place) })
export type EventBucket = z.infer<typeof EventBucket>

/** Number of open entries by bucket; buckets without open entries are absent. */
export const OpenCounts = z.record(z.string().max(16), z.int().min(1))
export type OpenCounts = z.infer<typeof OpenCounts>

export const openCountsKey = 'alerts:events:counts'
export const getEventBucketKey = (name: string): string => `alerts:events:list:${name}`

/** Returns the bucket of an entry: one of 256 by hash prefix, so that no single write contains all entries. */
const selectBucket = (place: string): string => (place === overflowEntryId ? place : place.slice(0, 2))

/** Returns the number of open entries without the overflow entry. */
export const countOpenEntries = ({ [overflowEntryId]: _overflow, ...counts }: OpenCounts): number =>
  countOpenEntriesWithOverflow(counts)

/** Returns the number of open entries, including the overflow entry. */
export const countOpenEntriesWithOverflow = (counts: OpenCounts): number =>
  Object.values(counts).reduce((sum, open) => sum + open, 0)

/** Current entries by id; undefined if the entry was deleted. */
type Entries = ReadonlyMap<string, EventEntry | undefined>

/**
 * Updates buckets and counts after entries were written. If the process dies in between, the event is delivered again.
 * Closed entries are read once more, because another process may have reopened them.
 */
export const updateEventBuckets = async (store: Store, entries: Entries): Promise<void> => {
  if (entries.size === 0) return
  const byList = Map.groupBy(entries, ([place]) => selectBucket(place))
  const lists = await Promise.all(
    [...byList].map(async ([name, those]) => [name, await writeBucket(store, name, new Map(those))] as const),
  )
  await store.update(openCountsKey, OpenCounts, (before = {}) => {
    const counts = lists.filter(([name, { open }]) => (before[name] ?? 0) !== open.length)
    if (counts.length === 0) return undefined
    const { ...after } = before
    for (const [name, { open }] of counts) {
      if (open.length > 0) after[name] = open.length
      else delete after[name]
    }
    return { value: after }
  })
  const closed = [...entries].flatMap(([place, entry]) => (entry?.condition ? [] : [place]))
  const again = await Promise.all(closed.map(async (place) => [place, await readEntry(store, place)] as const))
  await updateEventBuckets(store, new Map(again.filter(([, entry]) => entry?.condition)))
}

/** Reads the entry with this id; undefined if there is none. */
export const readEntry = (store: Store, place: string): Promise<EventEntry | undefined> =>
  store.get(getEventEntryKey(place), EventEntry)

/** Updates one bucket, deletes the oldest closed entries beyond the maximum, and returns the bucket. */
const writeBucket = async (store: Store, name: string, entries: Entries): Promise<EventBucket> => {
  let forgotten: readonly string[] = []
  const after = await store.update(getEventBucketKey(name), EventBucket, (before = emptyBucket) => {
    const placed = updateBucket(before, entries)
    forgotten = placed.forgotten
    if (placed.isSame) return undefined
    return { value: placed.list, ...(placed.list.open.length === 0 && { expiresInMs: closedEntryTtlMs }) }
  })
  await Promise.all(
    forgotten.map((place) =>
      store.update(getEventEntryKey(place), EventEntry, (entry) =>
        entry?.condition === null ? { value: undefined } : undefined,
      ),
    ),
  )
  return after ?? emptyBucket
}

const emptyBucket: EventBucket = { open: [], over: [] }
/** Maximum number of closed entries per bucket, so that a source cannot fill the store with fake events. */
const maxClosedPerBucket = 100

const updateBucket = (before: EventBucket, entries: Entries) => {
  const isOpen = (place: string) => Boolean(entries.get(place)?.condition)
  const known = new Set(before.open)
  const open = [
    ...before.open.filter((place) => !entries.has(place) || isOpen(place)),
    ...[...entries.keys()].filter((place) => isOpen(place) && !known.has(place)),
  ]
  const over = [
    ...before.over.filter((place) => !entries.has(place)),
    ...[...entries].flatMap(([place, entry]) => (entry?.condition === null ? [place] : [])),
  ]
  const forgotten = over.splice(0, Math.max(0, over.length - maxClosedPerBucket))
  const isSame = isSameList(open, before.open) && isSameList(over, before.over)
  return { list: { open, over }, forgotten, isSame }
}

const isSameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((place, index) => place === other[index])

/** The open condition of an inbound event, and the id of its entry. */
export interface OpenCondition {
  place: string
  source: string
  condition: Condition
}

const readsAtOnce = 16

/** Returns the ids of open entries. It stops reading buckets after `max` ids, so it may return a few more. */
export const listOpenEntryIds = async (store: Store, max: number): Promise<string[]> => {
  const counts = (await store.get(openCountsKey, OpenCounts)) ?? {}
  const places: string[] = []
  await runConcurrently(Object.keys(counts), readsAtOnce, async (name) => {
    if (places.length < max) places.push(...((await store.get(getEventBucketKey(name), EventBucket))?.open ?? []))
  })
  return places
}

/** Returns at most `max` open conditions. */
export const listOpenConditions = async (store: Store, max: number): Promise<OpenCondition[]> => {
  const found: OpenCondition[] = []
  await runConcurrently((await listOpenEntryIds(store, max)).slice(0, max), readsAtOnce, async (place) => {
    const entry = await readEntry(store, place)
    if (entry?.condition) found.push({ place, source: entry.source, condition: entry.condition })
  })
  return found
}
