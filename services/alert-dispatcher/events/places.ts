import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import type { Condition } from '../conditions/condition.ts'
import { inLanes } from '../in-lanes.ts'
import { EventEntry, entryKey, overflowPlace, rememberedMs } from './record.ts'

const Place = z.string().max(40)

/** The places whose digests begin alike: what is open there, and what is over and remembered, the newest last. */
export const EventList = z.object({ open: z.array(Place), over: z.array(Place) })
export type EventList = z.infer<typeof EventList>

/** How many are open, by the name of their list; none of those where nothing is. */
export const OpenCounts = z.record(z.string().max(16), z.int().min(1))
export type OpenCounts = z.infer<typeof OpenCounts>

export const countsKey = 'alerts:events:counts'
export const listKey = (name: string): string => `alerts:events:list:${name}`

/** One of 256 by chance alike, so that no write carries them all. */
const listOf = (place: string): string => (place === overflowPlace ? place : place.slice(0, 2))

/** Things that are open, but for the one that stands for the overflow. */
export const openIn = ({ [overflowPlace]: _overflow, ...counts }: OpenCounts): number => firingIn(counts)

/** Things that are open, the one that stands for the overflow among them. */
export const firingIn = (counts: OpenCounts): number => Object.values(counts).reduce((sum, open) => sum + open, 0)

/** Entries as they stand, by their place; undefined where there is none. */
type Entries = ReadonlyMap<string, EventEntry | undefined>

/**
 * Brings lists and counts up to date with entries that were written before: whoever died in between has its event come again. What
 * is off its list is looked at once more, since somebody may have opened it meanwhile.
 */
export const listEntries = async (store: Store, entries: Entries): Promise<void> => {
  if (entries.size === 0) return
  const byList = Map.groupBy(entries, ([place]) => listOf(place))
  const lists = await Promise.all(
    [...byList].map(async ([name, those]) => [name, await writeList(store, name, new Map(those))] as const),
  )
  await store.update(countsKey, OpenCounts, (before = {}) => {
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
  const again = await Promise.all(closed.map(async (place) => [place, await entryAt(store, place)] as const))
  await listEntries(store, new Map(again.filter(([, entry]) => entry?.condition)))
}

export const entryAt = (store: Store, place: string): Promise<EventEntry | undefined> =>
  store.get(entryKey(place), EventEntry)

/** Gives the list as it stands. */
const writeList = async (store: Store, name: string, entries: Entries): Promise<EventList> => {
  let forgotten: readonly string[] = []
  const after = await store.update(listKey(name), EventList, (before = none) => {
    const placed = placedIn(before, entries)
    forgotten = placed.forgotten
    if (placed.isSame) return undefined
    return { value: placed.list, ...(placed.list.open.length === 0 && { expiresInMs: rememberedMs }) }
  })
  await Promise.all(
    forgotten.map((place) =>
      store.update(entryKey(place), EventEntry, (entry) =>
        entry?.condition === null ? { value: undefined } : undefined,
      ),
    ),
  )
  return after ?? none
}

const none: EventList = { open: [], over: [] }
/** Of what is over so many are remembered in one list: whoever invents events must not fill the store. */
const mostRemembered = 100

const placedIn = (before: EventList, entries: Entries) => {
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
  const forgotten = over.splice(0, Math.max(0, over.length - mostRemembered))
  const isSame = alike(open, before.open) && alike(over, before.over)
  return { list: { open, over }, forgotten, isSame }
}

const alike = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((place, index) => place === other[index])

/** One condition that an inbound event began, and where it is kept. */
export interface OpenCondition {
  place: string
  source: string
  condition: Condition
}

const atOnce = 16

/** Where conditions of inbound events are, `most` of them or a few more; lists beyond are not read. */
export const openPlaces = async (store: Store, most: number): Promise<string[]> => {
  const counts = (await store.get(countsKey, OpenCounts)) ?? {}
  const places: string[] = []
  await inLanes(Object.keys(counts), atOnce, async (name) => {
    if (places.length < most) places.push(...((await store.get(listKey(name), EventList))?.open ?? []))
  })
  return places
}

/** The conditions of inbound events, `most` of them at most. */
export const openConditions = async (store: Store, most: number): Promise<OpenCondition[]> => {
  const found: OpenCondition[] = []
  await inLanes((await openPlaces(store, most)).slice(0, most), atOnce, async (place) => {
    const entry = await entryAt(store, place)
    if (entry?.condition) found.push({ place, source: entry.source, condition: entry.condition })
  })
  return found
}
