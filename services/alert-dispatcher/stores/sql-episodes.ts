import type { DeleteResult, Kysely } from 'kysely'
import { HistoryEntry } from '#proto/alert-history.ts'
import { Condition, type Episode, type Happening } from '../conditions/condition.ts'
import { EventEpisode, type EventEpisodes } from '../events/record.ts'
import { type History, type KeptEpisodes, settledBy, type Silences } from './stores.ts'
import { type AlertSql, type AlertTables, portionsOf } from './tables.ts'

const episodeTable = 'watchhouse_alert_episodes'
const eventTable = 'watchhouse_alert_event_episodes'
const historyTable = 'watchhouse_alert_history'

export const sqlEpisodes = ({ database, tables }: AlertSql, silences: Silences): KeptEpisodes => ({
  async open() {
    const open = tables.selectFrom(episodeTable).selectAll().where('ended_at_ms', 'is', null)
    return (await database.run(() => open.execute())).map(episodeOf)
  },
  async write(episodes, happenings) {
    // One statement must not change a row twice.
    const latest = [...new Map(episodes.map((episode) => [episode.condition.episode, episode])).values()]
    if (latest.length + happenings.length === 0) return
    await database.run(() =>
      tables.transaction().execute(async (transaction) => {
        for (const portion of portionsOf(latest)) await writeEpisodes(transaction, portion)
        for (const portion of portionsOf(happenings)) await addToHistory(transaction, portion)
      }),
    )
  },
  settled: async () => settledBy(await silences.list()),
  prune: (beforeMs) =>
    removeOld((limit) => {
      const ended = tables.selectFrom(episodeTable).select('id').where('ended_at_ms', '<', beforeMs).limit(limit)
      return database.run(() => tables.deleteFrom(episodeTable).where('id', 'in', ended).executeTakeFirst())
    }),
})

/** The end is final, and a write that comes late changes nothing. */
const writeEpisodes = (tables: Kysely<AlertTables>, episodes: readonly Episode[]): Promise<unknown> =>
  tables
    .insertInto(episodeTable)
    .values(episodes.map(episodeRow))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((update) => ({
          severity: update.ref('excluded.severity'),
          ended_at_ms: update.ref('excluded.ended_at_ms'),
          sequence: update.ref('excluded.sequence'),
          condition: update.ref('excluded.condition'),
        }))
        .whereRef(`${episodeTable}.sequence`, '<=', 'excluded.sequence')
        .where(({ eb, or }) =>
          or([eb(`${episodeTable}.ended_at_ms`, 'is', null), eb('excluded.ended_at_ms', 'is not', null)]),
        ),
    )
    .execute()

/** Lines that are known already stay as they are. */
const addToHistory = (tables: Kysely<AlertTables>, happenings: readonly Happening[]): Promise<unknown> =>
  tables
    .insertInto(historyTable)
    .values(happenings.map(historyRow))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()

type EpisodeRow = AlertTables[typeof episodeTable]

const episodeRow = ({ hostKey, condition, endedAtMs }: Episode): EpisodeRow => ({
  id: condition.episode,
  host_key: hostKey,
  rule_id: condition.ruleId,
  severity: condition.severity,
  since_ms: condition.sinceMs,
  ended_at_ms: endedAtMs,
  sequence: condition.sequence,
  condition: JSON.stringify(condition),
})

/** PostgreSQL gives 64-bit integers as text. */
const episodeOf = ({ host_key, condition, ended_at_ms }: EpisodeRow): Episode => ({
  hostKey: host_key,
  condition: Condition.parse(JSON.parse(condition)),
  endedAtMs: ended_at_ms === null ? null : Number(ended_at_ms),
})

export const sqlEventEpisodes = ({ database, tables }: AlertSql): EventEpisodes => ({
  async open() {
    const open = tables.selectFrom(eventTable).selectAll().where('ended_at_ms', 'is', null)
    return (await database.run(() => open.execute())).map(eventEpisodeOf)
  },
  async write(episodes) {
    // One statement must not change a row twice.
    const latest = [...new Map(episodes.map((episode) => [episode.entry.condition.episode, episode])).values()]
    for (const portion of portionsOf(latest)) {
      // The end is final, and a write that comes late changes nothing.
      const writing = tables
        .insertInto(eventTable)
        .values(portion.map(eventRow))
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet((update) => ({
              sequence: update.ref('excluded.sequence'),
              entry: update.ref('excluded.entry'),
              ended_at_ms: update.ref('excluded.ended_at_ms'),
            }))
            .whereRef(`${eventTable}.sequence`, '<=', 'excluded.sequence')
            .where(({ eb, or }) =>
              or([eb(`${eventTable}.ended_at_ms`, 'is', null), eb('excluded.ended_at_ms', 'is not', null)]),
            ),
        )
      await database.run(() => writing.execute())
    }
  },
  prune: (beforeMs) =>
    removeOld((limit) => {
      const ended = tables.selectFrom(eventTable).select('id').where('ended_at_ms', '<', beforeMs).limit(limit)
      return database.run(() => tables.deleteFrom(eventTable).where('id', 'in', ended).executeTakeFirst())
    }),
})

type EventRow = AlertTables[typeof eventTable]

const eventRow = ({ place, entry, endedAtMs }: EventEpisode): EventRow => ({
  id: entry.condition.episode,
  place,
  sequence: entry.condition.sequence,
  entry: JSON.stringify(entry),
  ended_at_ms: endedAtMs,
})

/** PostgreSQL gives 64-bit integers as text. */
const eventEpisodeOf = ({ place, entry, ended_at_ms }: EventRow): EventEpisode =>
  EventEpisode.parse({
    place,
    entry: JSON.parse(entry),
    endedAtMs: ended_at_ms === null ? null : Number(ended_at_ms),
  })

export const sqlHistory = ({ database, tables }: AlertSql): History => ({
  async list({ hostKey, fromMs, toMs, limit }) {
    let wanted = tables.selectFrom(historyTable).selectAll().orderBy('at_ms', 'desc').orderBy('id').limit(limit)
    if (hostKey !== undefined) wanted = wanted.where('host_key', '=', hostKey)
    if (fromMs !== undefined) wanted = wanted.where('at_ms', '>=', fromMs)
    if (toMs !== undefined) wanted = wanted.where('at_ms', '<', toMs)
    return (await database.run(() => wanted.execute())).map(entryOf)
  },
  prune: (beforeMs) =>
    removeOld((limit) => {
      const old = tables.selectFrom(historyTable).select('id').where('at_ms', '<', beforeMs).limit(limit)
      return database.run(() => tables.deleteFrom(historyTable).where('id', 'in', old).executeTakeFirst())
    }),
})

type HistoryRow = AlertTables[typeof historyTable]

/** A line as it is kept. */
const historyRow = ({ hostKey, ruleId, sinceMs, atMs, ...entry }: HistoryEntry): HistoryRow => ({
  ...entry,
  host_key: hostKey,
  rule_id: ruleId,
  since_ms: sinceMs,
  at_ms: atMs,
})

const entryOf = ({ host_key, rule_id, since_ms, at_ms, ...row }: HistoryRow): HistoryEntry =>
  HistoryEntry.parse({
    ...row,
    hostKey: host_key,
    ruleId: rule_id,
    sinceMs: Number(since_ms),
    atMs: Number(at_ms),
  })

/** So many go at once: a statement that takes long is ended by the server, and keeps others waiting until then. */
const rowsAtOnce = 2_000

/** Removes rows portion by portion; says how many. */
const removeOld = async (removePortion: (limit: number) => Promise<DeleteResult>): Promise<number> => {
  let removed = 0
  for (;;) {
    const count = Number((await removePortion(rowsAtOnce)).numDeletedRows)
    removed += count
    if (count < rowsAtOnce) return removed
  }
}
