import { z } from 'zod'
import { inLanes } from '../sweeps/lanes.ts'
import { type EventEpisode, recordOf } from './event-episode.ts'
import { EventRecord, recordKey } from './record.ts'
import { type Writing, writeIndex } from './write.ts'

/** Stands in a store as long as that has not been emptied: when it was looked at. */
export const markerKey = 'alerts:events:kept'
const Marker = z.number()
const recordsAtOnce = 16

/**
 * Gives a store that came back empty what was open, so that nobody is told of it anew and whoever knows is told of its end. While
 * the database does not answer, what comes in begins anew.
 */
export const rebuildEvents = async (writing: Writing): Promise<void> => {
  const { store, eventEpisodes, isLasting, clock, telemetry } = writing
  if (!isLasting || (await store.get(markerKey, Marker))) return
  const { log } = telemetry
  const open = await eventEpisodes.open().catch((error: unknown) => {
    log.warn({ err: error }, 'conditions of inbound events cannot be read; those that are repeated begin anew')
    return undefined
  })
  if (!open) return
  const byRecord = Map.groupBy(open, ({ place }) => recordOf(place))
  await inLanes([...byRecord.keys()], recordsAtOnce, async (name) => {
    await restore(writing, name, byRecord.get(name) ?? [])
  })
  await store.update(markerKey, Marker, () => ({ value: clock.now() }))
  if (open.length === 0) return
  log.warn({ conditions: open.length }, 'conditions of inbound events were brought back')
}

/** What was heard meanwhile is newer. */
const restore = async ({ store, clock }: Writing, name: string, open: readonly EventEpisode[]): Promise<void> => {
  // When it was heard of last nobody knows any more, so it is given its whole time.
  const seenAtMs = clock.now()
  const entries = Object.fromEntries(open.map(({ place, entry }) => [place, { ...entry, seenAtMs }]))
  const record = await store.update(recordKey(name), EventRecord, (before) => ({
    value: { entries: { ...entries, ...before?.entries } },
  }))
  await writeIndex(store, name, record)
}
