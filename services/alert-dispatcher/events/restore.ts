import { z } from 'zod'
import type { Store } from '#shared/store/store.ts'
import { recordInstant } from '#shared/time/clock.ts'
import { createRepeatedNotification } from '../conditions/notify.ts'
import { type Notification, toOutboxMessage } from '../notification.ts'
import { runConcurrently } from '../run-concurrently.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import { type EventEpisode, EventEntry, getEventEntryKey } from './event-entry.ts'
import { readEntry, updateEventBuckets } from './event-buckets.ts'
import { type WriteDeps, type WrittenEntry, toUnchangedEntry, finishWrites, writeEntry } from './write-entries.ts'

/** Format of release 0.1.0: many entries per record, and an index of the records. */
const OldIndex = z.record(z.string().max(16), z.unknown())
const OldRecord = z.object({ entries: z.record(z.string(), EventEntry) })
const oldIndexKey = 'alerts:events'
const getOldRecordKey = (name: string): string => `alerts:events:${name}`
const recordsAtOnce = 4

/**
 * Migrates entries of release 0.1.0 to one record per entry. While both releases run, each closes the conditions that
 * it opened.
 */
export const migrateOldEntries = async (store: Store): Promise<void> => {
  const index = await store.get(oldIndexKey, OldIndex)
  if (!index) return
  await runConcurrently(Object.keys(index), recordsAtOnce, (name) => migrateRecord(store, getOldRecordKey(name)))
  await store.update(oldIndexKey, OldIndex, () => ({ value: undefined }))
}

const migrateRecord = async (store: Store, key: string): Promise<void> => {
  const old = await store.get(key, OldRecord)
  if (!old) return
  const migrated = new Map<string, EventEntry | undefined>()
  for (const [place, entry] of Object.entries(old.entries)) {
    if (entry.condition === null) continue
    migrated.set(
      place,
      await store.update(getEventEntryKey(place), EventEntry, (before) => (before ? undefined : { value: entry })),
    )
  }
  await updateEventBuckets(store, migrated)
  await store.update(key, OldRecord, () => ({ value: undefined }))
}

/** Key of the marker of a restored store. An emptied store lacks it, and each restore writes a new value. */
export const restoreMarkerKey = 'alerts:events:kept'
export const RestoreMarker = z.number()
/** Key that exists for ten minutes after the store was found empty. */
const restoreKey = `${restoreMarkerKey}:started`
const recheckPeriodMs = 10 * 60_000
const entriesAtOnce = 16
const maxPerWrite = 500

/**
 * Restores open conditions to a store that was emptied, so that they are not notified again and their recoveries are
 * sent. While the database is unavailable, repeated events start new episodes.
 */
export const restoreInboundConditions = async (deps: WriteDeps): Promise<void> => {
  const { store, eventEpisodes, isPersistent, telemetry } = deps
  await migrateOldEntries(store)
  if (!isPersistent || (await store.get(restoreMarkerKey, RestoreMarker))) return
  const { log } = telemetry
  const open = await eventEpisodes.open().catch((error: unknown) => {
    log.warn({ err: error }, 'reading inbound conditions failed; repeated events start new episodes')
    return undefined
  })
  if (!open) return
  const marker = Math.random()
  await store.update(restoreKey, RestoreMarker, () => ({ value: marker, expiresInMs: recheckPeriodMs }))
  await restoreEntries(deps, open)
  const nowMs = recordInstant(deps.clock)
  const missed = await filterMissedNotifications(deps, [
    ...open.map((episode) => createRepeatedEventNotification(episode, nowMs)),
    ...(await listRecoveries(deps, nowMs)),
  ])
  await repeatNotifications(store, missed)
  // The marker is not written if the store was emptied during the restore. `updateTogether` detects conflicts only on
  // the keys that it writes, so it also writes `restoreKey`.
  await store.updateTogether(
    { one: { key: restoreMarkerKey, schema: RestoreMarker }, many: { keys: [restoreKey], schema: RestoreMarker } },
    (_marker, restoring) =>
      restoring.get(restoreKey) === marker
        ? { one: marker, many: new Map([[restoreKey, marker]]), expiresInMs: recheckPeriodMs }
        : undefined,
  )
  if (open.length + missed.length === 0) return
  log.warn({ conditions: open.length, missed: missed.length }, 'inbound conditions restored')
}

/** Age up to which ended episodes are checked for recoveries that the store lost. */
const maxEndedAgeMs = 24 * 3_600_000

/** Returns the recovery notifications of recently ended episodes of hosts and inbound events. */
const listRecoveries = async (
  { episodes, eventEpisodes }: Pick<DispatcherDeps, 'episodes' | 'eventEpisodes'>,
  nowMs: number,
): Promise<(Notification | undefined)[]> => {
  const sinceMs = nowMs - maxEndedAgeMs
  const [ofHosts, ofEvents] = await Promise.all([episodes.ended(sinceMs), eventEpisodes.ended(sinceMs)])
  return [
    ...ofHosts.map(({ condition, endedAtMs, hostKey }) =>
      createRepeatedNotification(condition, endedAtMs, { hostKey, nowMs }),
    ),
    ...ofEvents.map((episode) => createRepeatedEventNotification(episode, nowMs)),
  ]
}

/**
 * Repeats recoveries that a target has not received, for ten minutes after the store was found empty. Deliveries that
 * were in progress at that time had no record yet.
 */
export const repeatMissedRecoveries = async (
  parts: Pick<DispatcherDeps, 'store' | 'clock' | 'episodes' | 'eventEpisodes' | 'isMissed'>,
) => {
  if (!(await parts.store.get(restoreKey, RestoreMarker))) return
  await repeatNotifications(
    parts.store,
    await filterMissedNotifications(parts, await listRecoveries(parts, recordInstant(parts.clock))),
  )
}

/** Returns the last notification of an inbound condition, to be repeated; undefined if none was sent. */
export const createRepeatedEventNotification = (
  { entry: { condition, source }, endedAtMs }: EventEpisode,
  nowMs: number,
): Notification | undefined => {
  const notification = createRepeatedNotification(condition, endedAtMs, { hostKey: source, nowMs })
  return notification && { ...notification, hostKey: null, source }
}

/** Writes repeated notifications to the outbox. */
export const repeatNotifications = async (store: Store, notifications: readonly Notification[]): Promise<void> => {
  for (let from = 0; from < notifications.length; from += maxPerWrite) {
    const outbox = notifications.slice(from, from + maxPerWrite).map(toOutboxMessage)
    await store.update(`${restoreMarkerKey}:again`, RestoreMarker, () => ({ value: from, outbox }))
  }
}

/** Returns the notifications that at least one of their targets has not received. */
export const filterMissedNotifications = async (
  { isMissed }: Pick<DispatcherDeps, 'isMissed'>,
  notifications: readonly (Notification | undefined)[],
): Promise<Notification[]> => {
  const missed: Notification[] = []
  await runConcurrently(
    notifications.flatMap((notification) => notification ?? []),
    entriesAtOnce,
    async (notification) => {
      if (await isMissed(notification)) missed.push(notification)
    },
  )
  return missed
}

/**
 * Writes entries that the store lost. Existing entries are newer and kept, even closed ones that seem expired: a clock
 * that was set must not reopen recovered conditions.
 */
const restoreEntries = async (deps: WriteDeps, open: readonly EventEpisode[]): Promise<void> => {
  const { store, clock } = deps
  // The time of the last event is lost, so its lifetime starts again.
  const seenAtMs = clock.now()
  const written: WrittenEntry[] = []
  await runConcurrently(open, entriesAtOnce, async ({ place, entry }) => {
    const restored = { ...entry, seenAtMs }
    const one = await writeEntry(deps, place, (_entry, _nowMs, isStored) => (isStored ? 'unchanged' : restored))
    written.push(one ?? toUnchangedEntry(place, await readEntry(store, place)))
  })
  await finishWrites(deps, written)
}
