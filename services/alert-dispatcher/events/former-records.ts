import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { inLanes } from '../sweeps/lanes.ts'
import { listEntries } from './places.ts'
import { EventEntry, entryKey } from './record.ts'

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
