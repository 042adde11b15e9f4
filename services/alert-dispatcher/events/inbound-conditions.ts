import type { Silence } from '#proto/alert-history.ts'
import type { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { inboundConditionMethods } from '#proto/inbound-conditions.ts'
import type { Store } from '#shared/store/store.ts'
import { requireStateDatabase, type AlertingDeps } from '../alerting.ts'
import { type EpisodeSilences, hasSameSilences } from '../conditions/condition.ts'
import { toAlertCondition, listActiveSilences, createSilence } from '../conditions/handlers.ts'
import { advanceToRecovery } from '../conditions/notify.ts'
import type { DispatcherDeps } from '../dispatcher-deps.ts'
import {
  listOpenConditions,
  OpenCounts,
  openCountsKey,
  countOpenEntriesWithOverflow,
  type OpenCondition,
  readEntry,
} from './event-buckets.ts'
import {
  RestoreMarker,
  createRepeatedEventNotification,
  restoreMarkerKey,
  filterMissedNotifications,
  repeatNotifications,
} from './restore.ts'
import { type EventEpisode, EventEntry, getEventEntryKey, maxOpenConditions } from './event-entry.ts'

type InboundConditionHandlers = Pick<ServiceHandlers<typeof alerts>, keyof typeof inboundConditionMethods>

/** Returns the handlers for inbound conditions and their silences. */
export const createInboundConditionHandlers = (
  alerting: Pick<AlertingDeps, 'store' | 'stores' | 'clock'>,
): InboundConditionHandlers => {
  const { store, stores, clock } = alerting
  return {
    async inboundConditions({ limit }) {
      const open = countOpenEntriesWithOverflow((await store.get(openCountsKey, OpenCounts)) ?? {})
      const found = limit === 0 ? [] : await listOpenConditions(store, limit)
      const conditions = found.map(({ source, condition }) => ({ ...toAlertCondition(condition), source }))
      return { conditions, open: Math.max(open, conditions.length) }
    },
    async silenceInbound({ episode, kind, minutes, note }, { identity }) {
      if (kind === 'ack') requireStateDatabase(stores, 'acknowledging')
      const found = await findOpenCondition(store, episode)
      if (!found) throw createUnknownEpisodeError()
      const of = { episode, hostKey: null, ruleId: found.condition.ruleId }
      const stored = createSilence({ kind, minutes, note }, of, { by: identity.subject, atMs: clock.now() })
      // The database is written first; reconciliation copies the silence into the condition if the next write fails.
      await stores.silences.put(stored)
      await applyInboundSilence(store, stored, stored)
      return stored
    },
    async unsilenceInbound({ episode, kind }) {
      if (kind === 'ack') requireStateDatabase(stores, 'acknowledging')
      const stored = (await listActiveSilences(alerting)).find(
        (each: Silence) => each.kind === kind && each.episode === episode,
      )
      if (!stored) throw createUnknownEpisodeError()
      await stores.silences.remove(kind, episode)
      await applyInboundSilence(store, stored, null)
      return stored
    },
  }
}

const createUnknownEpisodeError = (): ServiceError =>
  new ServiceError('not-found', 'inbound condition not found: it never existed or has been resolved', {
    details: { parameter: 'episode' },
  })

type SilenceKey = Pick<Silence, 'kind' | 'episode'>

/** Returns the open condition of an episode; undefined if it has ended. */
const findOpenCondition = async (store: Store, episode: string): Promise<OpenCondition | undefined> =>
  (await listOpenConditions(store, 2 * maxOpenConditions)).find(({ condition }) => condition.episode === episode)

/** Sets or clears a silence in the condition; does nothing if the episode has ended. */
const applyInboundSilence = async (
  store: Store,
  { kind, episode }: SilenceKey,
  silence: Pick<Silence, 'untilMs'> | null,
): Promise<void> => {
  const found = await findOpenCondition(store, episode)
  if (!found) return
  const stored = silence && { untilMs: silence.untilMs }
  await updateOpenCondition(store, found, { [kind === 'ack' ? 'acknowledged' : 'dismissed']: stored })
}

/**
 * Copies silences from the database into open conditions, ends episodes that the store closed, and adds missing ones to
 * the database.
 */
export const reconcileInboundConditions = async (
  parts: Pick<DispatcherDeps, 'store' | 'eventEpisodes' | 'clock' | 'isMissed'>,
  silences: readonly EpisodeSilences[],
): Promise<void> => {
  const { store, eventEpisodes, clock } = parts
  const silencesOf = new Map(silences.map((stored) => [stored.episode, stored]))
  const marker = await store.get(restoreMarkerKey, RestoreMarker)
  const stored = await eventEpisodes.open()
  const all = await listOpenConditions(store, 2 * maxOpenConditions)
  const names = new Set(all.map(({ condition }) => condition.episode))
  const over: EventEpisode[] = []
  for (const episode of stored.filter(({ entry }) => !names.has(entry.condition.episode))) {
    // The entry may have been added to a bucket after the buckets were read.
    const entry = await readEntry(store, episode.place)
    if (entry?.condition?.episode !== episode.entry.condition.episode) over.push(episode)
  }
  // A changed marker means that the store was emptied: its conditions are lost, not closed.
  if (marker === undefined || (await store.get(restoreMarkerKey, RestoreMarker)) !== marker) return
  const isStored = new Set(stored.map(({ entry }) => entry.condition.episode))
  // Conditions that opened while the database was unavailable are missing there.
  const missing = all.filter(({ condition }) => condition.phase !== 'pending' && !isStored.has(condition.episode))
  const endedAtMs = clock.now()
  const ended = over.map(({ place, entry }) => ({
    place,
    entry: { ...entry, condition: advanceToRecovery(entry.condition) },
    endedAtMs,
  }))
  const last = ended.map((episode) => createRepeatedEventNotification(episode, endedAtMs))
  await repeatNotifications(store, await filterMissedNotifications(parts, last))
  await eventEpisodes.write([...ended, ...(await readEpisodes(store, missing))])
  for (const open of all) {
    const { acknowledged = null, dismissed = null } = silencesOf.get(open.condition.episode) ?? {}
    if (!hasSameSilences(open.condition, { acknowledged, dismissed }))
      await updateOpenCondition(store, open, { acknowledged, dismissed })
  }
}

/** Returns open conditions as episodes, in their current stored state. */
const readEpisodes = async (store: Store, open: readonly OpenCondition[]): Promise<EventEpisode[]> => {
  const found: EventEpisode[] = []
  for (const { place } of open) {
    const entry = await readEntry(store, place)
    if (entry?.condition) found.push({ place, entry: { ...entry, condition: entry.condition }, endedAtMs: null })
  }
  return found
}

const updateOpenCondition = async (
  store: Store,
  { place, condition: { episode } }: OpenCondition,
  stored: Partial<Pick<EpisodeSilences, 'acknowledged' | 'dismissed'>>,
): Promise<void> => {
  await store.update(getEventEntryKey(place), EventEntry, (entry) =>
    entry?.condition?.episode === episode
      ? { value: { ...entry, condition: { ...entry.condition, ...stored } } }
      : undefined,
  )
}
