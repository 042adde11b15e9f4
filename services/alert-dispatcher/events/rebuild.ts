import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import type { Condition } from '../conditions/condition.ts'
import { inLanes } from '../in-lanes.ts'
import type { Parts } from '../parts.ts'
import { type EventEpisode, EventEntry, entryKey } from './record.ts'
import { entryAt, listEntries } from './places.ts'
import { type Writing, type Written, asItIs, settle, writeEntry } from './write.ts'

/** As 0.1.0 kept it: many entries in one record, and an index of the records. */
const FormerIndex = z.record(z.string().max(16), z.unknown())
const FormerRecord = z.object({ entries: z.record(z.string(), EventEntry) })
const formerIndexKey = 'alerts:events'
const formerKey = (name: string): string => `alerts:events:${name}`
const recordsAtOnce = 4

/** Gives each entry that an earlier release kept a place of its own. While processes of both run, what either begins it also ends. */
export const adoptFormer = async (store: Store): Promise<void> => {
  const index = await store.get(formerIndexKey, FormerIndex)
  if (!index) return
  await inLanes(Object.keys(index), recordsAtOnce, (name) => adopt(store, formerKey(name)))
  await store.update(formerIndexKey, FormerIndex, () => ({ value: undefined }))
}

const adopt = async (store: Store, key: string): Promise<void> => {
  const former = await store.get(key, FormerRecord)
  if (!former) return
  const stand = new Map<string, EventEntry | undefined>()
  for (const [place, entry] of Object.entries(former.entries)) {
    if (entry.condition === null) continue
    stand.set(
      place,
      await store.update(entryKey(place), EventEntry, (before) => (before ? undefined : { value: entry })),
    )
  }
  await listEntries(store, stand)
  await store.update(key, FormerRecord, () => ({ value: undefined }))
}

/** Stands in a store as long as that has not been emptied: when it was looked at. */
export const markerKey = 'alerts:events:kept'
const Marker = z.number()
const entriesAtOnce = 16

/**
 * Gives a store that came back empty what was open, so that nobody is told of it anew and whoever knows is told of its end. While
 * the database does not answer, what comes in begins anew.
 */
export const rebuildEvents = async (writing: Writing): Promise<void> => {
  const { store, eventEpisodes, isLasting, clock, telemetry } = writing
  await adoptFormer(store)
  if (!isLasting || (await store.get(markerKey, Marker))) return
  const { log } = telemetry
  const open = await eventEpisodes.open().catch((error: unknown) => {
    log.warn({ err: error }, 'conditions of inbound events cannot be read; those that are repeated begin anew')
    return undefined
  })
  if (!open) return
  await restore(writing, open)
  await store.update(markerKey, Marker, () => ({ value: clock.now() }))
  if (open.length === 0) return
  log.warn({ conditions: open.length }, 'conditions of inbound events were brought back')
}

/** What was heard meanwhile is newer. */
const restore = async (writing: Writing, open: readonly EventEpisode[]): Promise<void> => {
  const { store, clock } = writing
  // When it was heard of last nobody knows any more, so it is given its whole time.
  const seenAtMs = clock.now()
  const written: Written[] = []
  await inLanes(open, entriesAtOnce, async ({ place, entry }) => {
    const condition = await afterLoss(writing, entry.condition)
    const restored = { ...entry, condition, seenAtMs }
    const one = await writeEntry(writing, place, (before) => (before ? 'stays' : restored))
    written.push(one ?? asItIs(place, await entryAt(store, place)))
  })
  await settle(writing, written)
}

/**
 * A condition as it goes on in a store that lost it. The notification of which no delivery is on record may be lost too, so it is due
 * again; one that the queue still holds is dropped then, as the later one says more.
 */
export const afterLoss = async (
  { isNotified }: Pick<Parts, 'isNotified'>,
  condition: Condition,
): Promise<Condition> => {
  if (condition.told === null || condition.phase !== 'firing') return condition
  return (await isNotified(condition.episode)) ? condition : { ...condition, told: null }
}
