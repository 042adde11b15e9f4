import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { instant } from '#shared/time/clock.ts'
import { lastNotice } from '../conditions/tell.ts'
import { type Notice, asMessage } from '../notice.ts'
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

/** Stands in a store as long as that has not been emptied, and is another one after each time. */
export const markerKey = 'alerts:events:kept'
export const Marker = z.number()
/** Stands in a store for a while after it was found empty. */
const begunKey = `${markerKey}:begun`
const lookedAgainMs = 10 * 60_000
const entriesAtOnce = 16
const noticesAtOnce = 500

/**
 * Gives a store that came back empty what was open, so that nobody is told of it anew and whoever knows is told of its end. While
 * the database does not answer, what comes in begins anew.
 */
export const rebuildEvents = async (writing: Writing): Promise<void> => {
  const { store, eventEpisodes, isLasting, telemetry } = writing
  await adoptFormer(store)
  if (!isLasting || (await store.get(markerKey, Marker))) return
  const { log } = telemetry
  const open = await eventEpisodes.open().catch((error: unknown) => {
    log.warn({ err: error }, 'conditions of inbound events cannot be read; those that are repeated begin anew')
    return undefined
  })
  if (!open) return
  const mine = Math.random()
  await store.update(begunKey, Marker, () => ({ value: mine, expiresInMs: lookedAgainMs }))
  await restore(writing, open)
  const nowMs = instant(writing.clock)
  const missed = await missedOf(writing, [
    ...open.map((episode) => lastNoticeOf(episode, nowMs)),
    ...(await endsOf(writing, nowMs)),
  ])
  await notifyAgain(store, missed)
  // A store that is emptied meanwhile has lost what was brought back, and gets no marker. Both keys are written, because only what is
  // written is compared with the store.
  await store.updateTogether(
    { one: { key: markerKey, schema: Marker }, many: { keys: [begunKey], schema: Marker } },
    (_marker, begun) =>
      begun.get(begunKey) === mine
        ? { one: mine, many: new Map([[begunKey, mine]]), expiresInMs: lookedAgainMs }
        : undefined,
  )
  if (open.length + missed.length === 0) return
  log.warn({ conditions: open.length, missed: missed.length }, 'conditions of inbound events were brought back')
}

/** Ends that the store lost are looked for as long ago as this. */
const endedWithinMs = 24 * 3_600_000

/** The notices of ends, those of hosts too. */
const endsOf = async (
  { episodes, eventEpisodes }: Pick<Parts, 'episodes' | 'eventEpisodes'>,
  nowMs: number,
): Promise<(Notice | undefined)[]> => {
  const sinceMs = nowMs - endedWithinMs
  const [ofHosts, ofEvents] = await Promise.all([episodes.ended(sinceMs), eventEpisodes.ended(sinceMs)])
  return [
    ...ofHosts.map(({ condition, endedAtMs, hostKey }) => lastNotice(condition, endedAtMs, { hostKey, nowMs })),
    ...ofEvents.map((episode) => lastNoticeOf(episode, nowMs)),
  ]
}

/**
 * Looks for ends again in a store that was found empty a while ago: a send that was under way then was not on record yet, so its target
 * was not known to have taken the fire.
 */
export const notifyMissedEnds = async (
  parts: Pick<Parts, 'store' | 'clock' | 'episodes' | 'eventEpisodes' | 'isMissed'>,
) => {
  if (!(await parts.store.get(begunKey, Marker))) return
  await notifyAgain(parts.store, await missedOf(parts, await endsOf(parts, instant(parts.clock))))
}

/** The last notice of an inbound event. */
export const lastNoticeOf = (
  { entry: { condition, source }, endedAtMs }: EventEpisode,
  nowMs: number,
): Notice | undefined => {
  const notice = lastNotice(condition, endedAtMs, { hostKey: source, nowMs })
  return notice && { ...notice, hostKey: null, source }
}

/** Puts notices into the outbox. */
export const notifyAgain = async (store: Store, notices: readonly Notice[]): Promise<void> => {
  for (let from = 0; from < notices.length; from += noticesAtOnce) {
    const outbox = notices.slice(from, from + noticesAtOnce).map(asMessage)
    await store.update(`${markerKey}:again`, Marker, () => ({ value: from, outbox }))
  }
}

/** Those notices that a target has yet to get. */
export const missedOf = async (
  { isMissed }: Pick<Parts, 'isMissed'>,
  notices: readonly (Notice | undefined)[],
): Promise<Notice[]> => {
  const missed: Notice[] = []
  await inLanes(
    notices.flatMap((notice) => notice ?? []),
    entriesAtOnce,
    async (notice) => {
      if (await isMissed(notice)) missed.push(notice)
    },
  )
  return missed
}

/** What was heard meanwhile is newer. */
const restore = async (writing: Writing, open: readonly EventEpisode[]): Promise<void> => {
  const { store, clock } = writing
  // When it was heard of last nobody knows any more, so it is given its whole time.
  const seenAtMs = clock.now()
  const written: Written[] = []
  await inLanes(open, entriesAtOnce, async ({ place, entry }) => {
    const restored = { ...entry, seenAtMs }
    const one = await writeEntry(writing, place, (before) => (before ? 'stays' : restored))
    written.push(one ?? asItIs(place, await entryAt(store, place)))
  })
  await settle(writing, written)
}
