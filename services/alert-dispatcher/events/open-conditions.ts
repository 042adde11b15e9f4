import type { Store } from '#shared/store/store.ts'
import type { Condition } from '../conditions/condition.ts'
import { inLanes } from '../in-lanes.ts'
import { EventList, OpenCounts, countsKey, entryAt, listKey } from './places.ts'

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
