import { z } from 'zod'
import { AlertHistoryEntry, Silence } from '#proto/alert-history.ts'
import {
  type Collections,
  defineCollection,
  createMemoryCollections,
  openCollections,
} from '#shared/store/collection/collection.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { Condition } from '../conditions/condition.ts'
import { EventEpisode, type EventEpisodes } from '../events/event-entry.ts'
import {
  type AlertHistoryStore,
  type EpisodeStore,
  maxEndedEpisodes,
  type PolicyKind,
  type PolicyStore,
  requireRoomAndUniqueName,
  groupSilences,
  type SilenceStore,
  type DispatcherStores,
} from './stores.ts'

/** Columns of episodes. A retried write does not overwrite a newer one: sequences only grow, and an end is final. */
const episodeColumns = {
  columns: { sequence: 'integer', endedAtMs: 'integer' },
  indexes: [['endedAtMs']],
  supersedes: { grows: 'sequence', final: 'endedAtMs' },
} as const

const episodeRecords = defineCollection({
  ...episodeColumns,
  name: 'watchhouse_alert_episodes',
  schema: z.object({ hostKey: z.string(), condition: Condition, endedAtMs: z.int().nullable() }),
  idOf: ({ condition }) => condition.episode,
  valuesOf: ({ condition: { sequence }, endedAtMs }) => ({ sequence, endedAtMs }),
})

const eventRecords = defineCollection({
  ...episodeColumns,
  name: 'watchhouse_alert_event_episodes',
  schema: EventEpisode,
  idOf: ({ entry }) => entry.condition.episode,
  valuesOf: ({ entry, endedAtMs }) => ({ sequence: entry.condition.sequence, endedAtMs }),
})

const historyEntries = defineCollection({
  name: 'watchhouse_alert_history',
  schema: AlertHistoryEntry,
  columns: { hostKey: 'text', atMs: 'integer' },
  indexes: [['hostKey', 'atMs'], ['atMs']],
  idOf: ({ id }) => id,
  valuesOf: (entry) => entry,
})

const silenceId = ({ kind, episode }: Pick<Silence, 'kind' | 'episode'>): string => `${kind} ${episode}`

const silenceRecords = defineCollection({
  name: 'watchhouse_alert_silences',
  schema: Silence,
  columns: { atMs: 'integer', untilMs: 'integer' },
  idOf: silenceId,
  valuesOf: (silence) => silence,
})

const policyId = (kind: string, id: string): string => `${kind} ${id}`

const policyEntries = defineCollection({
  name: 'watchhouse_alert_policy',
  schema: z.object({ kind: z.string(), id: z.string(), body: z.unknown(), changedAtMs: z.int() }),
  columns: { kind: 'text' },
  indexes: [['kind']],
  idOf: ({ kind, id }) => policyId(kind, id),
  valuesOf: ({ kind }) => ({ kind }),
  // A corrupt entry is returned without a body. Its schema rejects and reports it, and the others remain in use.
  unreadable(key) {
    const [kind = '', ...id] = key.split(' ')
    return { kind, id: id.join(' '), body: undefined, changedAtMs: 0 }
  },
})

const collectionDefinitions = [episodeRecords, eventRecords, historyEntries, silenceRecords, policyEntries]

/** Opens the stores in the database, or in memory without one. */
export const openCollectionStores = async (database: Database | undefined): Promise<DispatcherStores> =>
  createStores(await openCollections('alerts', collectionDefinitions, database))

/** Returns stores in memory, whose data is lost on restart. */
export const createMemoryStores = (): DispatcherStores => createStores(createMemoryCollections())

const createStores = (collections: Collections): DispatcherStores => {
  const silences = createSilenceStore(collections)
  return {
    isPersistent: collections.kind !== 'memory',
    episodes: createEpisodeStore(collections, silences),
    eventEpisodes: createEventEpisodeStore(collections),
    history: createHistoryStore(collections),
    silences,
    policy: createPolicyStore(collections),
  }
}

const selectEndedSince = (sinceMs: number) =>
  ({
    where: { endedAtMs: { from: sinceMs } },
    orderBy: 'endedAtMs',
    descending: true,
    limit: maxEndedEpisodes,
  }) as const

const createEpisodeStore = (collections: Collections, silences: SilenceStore): EpisodeStore => {
  const episodes = collections.of(episodeRecords)
  return {
    open: () => episodes.list({ where: { endedAtMs: null } }),
    ended: (sinceMs) => episodes.list(selectEndedSince(sinceMs)),
    async write(changed, transitions) {
      if (changed.length + transitions.length === 0) return
      await collections.atomically(async (within) => {
        await within.of(episodeRecords).put(changed)
        await within.of(historyEntries).add(transitions)
      })
    },
    storedSilences: async () => groupSilences(await silences.list()),
    prune: (beforeMs) => episodes.remove({ endedAtMs: { before: beforeMs } }),
  }
}

const createEventEpisodeStore = (collections: Collections): EventEpisodes => {
  const episodes = collections.of(eventRecords)
  return {
    open: () => episodes.list({ where: { endedAtMs: null } }),
    ended: (sinceMs) => episodes.list(selectEndedSince(sinceMs)),
    write: (changed) => episodes.put(changed),
    prune: (beforeMs) => episodes.remove({ endedAtMs: { before: beforeMs } }),
  }
}

const createHistoryStore = (collections: Collections): AlertHistoryStore => {
  const entries = collections.of(historyEntries)
  return {
    list: ({ hostKey, fromMs, toMs, limit }) =>
      entries.list({
        where: { hostKey, atMs: { from: fromMs, before: toMs } },
        orderBy: 'atMs',
        descending: true,
        limit,
      }),
    prune: (beforeMs) => entries.remove({ atMs: { before: beforeMs } }),
  }
}

/** Maximum number of ids per query. */
const idsAtOnce = 500

const createSilenceStore = (collections: Collections): SilenceStore => {
  const silences = collections.of(silenceRecords)
  const known = [collections.of(episodeRecords), collections.of(eventRecords)]
  /**
   * Returns the ids of the silenced episodes that are open (`endedAtMs` null) or have ended. Unknown episodes are
   * omitted.
   */
  const among = async (silenceList: readonly Silence[], endedAtMs: null | { isSet: true }): Promise<Set<string>> => {
    const ids = silenceList.map(({ episode }) => episode)
    const found = new Set<string>()
    for (let from = 0; from < ids.length; from += idsAtOnce) {
      const where = { id: ids.slice(from, from + idsAtOnce), endedAtMs }
      for (const episodes of known) for (const id of await episodes.ids({ where })) found.add(id)
    }
    return found
  }
  return {
    put: (silence) => silences.put([silence]),
    async list() {
      const present = await silences.list({ orderBy: 'atMs' })
      const ended = await among(present, { isSet: true })
      return present.filter(({ episode }) => !ended.has(episode))
    },
    remove: async (kind, episode) => (await silences.remove({ id: silenceId({ kind, episode }) })) > 0,
    async prune(beforeMs) {
      const over = await silences.remove({ untilMs: { before: beforeMs } })
      const old = await silences.list({ where: { untilMs: null, atMs: { before: beforeMs } } })
      const open = await among(old, null)
      const ended = old.filter(({ episode }) => !open.has(episode)).map(silenceId)
      return over + (await silences.remove({ id: ended }))
    },
  }
}

const createPolicyStore = (collections: Collections): PolicyStore => ({
  async all() {
    const entries = await collections.of(policyEntries).list()
    return entries.map(({ kind, id, body }) => ({ kind, id, body }))
  },
  put: (kind: PolicyKind, id, body, changedAtMs, expected) =>
    collections.atomically(async (within) => {
      const entries = within.of(policyEntries)
      const ofKind = await entries.list({ where: { kind } })
      const others = ofKind.filter((entry) => entry.id !== id)
      const exists = others.length < ofKind.length
      if (expected !== undefined && exists !== (expected === 'present')) return false
      requireRoomAndUniqueName(kind, body, others)
      await entries.put([{ kind, id, body, changedAtMs }])
      return true
    }, policyEntries.name + kind),
  remove: async (kind, id) => (await collections.of(policyEntries).remove({ id: policyId(kind, id) })) > 0,
})
