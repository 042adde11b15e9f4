import type { Kysely } from 'kysely'
import { Condition } from '../conditions/condition.ts'
import type { Episode, Happening } from '../conditions/episode.ts'
import { removeOld } from './remove-old.ts'
import { settledBy, type KeptEpisodes, type Silences } from './stores.ts'
import { historyRow } from './sql-history.ts'
import { type AlertSql, type AlertTables, portionsOf } from './tables.ts'

const table = 'watchhouse_alert_episodes'

export const sqlEpisodes = ({ database, tables }: AlertSql, silences: Silences): KeptEpisodes => ({
  async open() {
    const open = tables.selectFrom(table).selectAll().where('ended_at_ms', 'is', null)
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
      const ended = tables.selectFrom(table).select('id').where('ended_at_ms', '<', beforeMs).limit(limit)
      return database.run(() => tables.deleteFrom(table).where('id', 'in', ended).executeTakeFirst())
    }),
})

/** The end is final, and a write that comes late changes nothing. */
const writeEpisodes = (tables: Kysely<AlertTables>, episodes: readonly Episode[]): Promise<unknown> =>
  tables
    .insertInto(table)
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
        .whereRef(`${table}.sequence`, '<=', 'excluded.sequence')
        .where(({ eb, or }) =>
          or([eb(`${table}.ended_at_ms`, 'is', null), eb('excluded.ended_at_ms', 'is not', null)]),
        ),
    )
    .execute()

/** Lines that are known already stay as they are. */
const addToHistory = (tables: Kysely<AlertTables>, happenings: readonly Happening[]): Promise<unknown> =>
  tables
    .insertInto('watchhouse_alert_history')
    .values(happenings.map(historyRow))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()

type Row = AlertTables[typeof table]

const episodeRow = ({ hostKey, condition, endedAtMs }: Episode): Row => ({
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
const episodeOf = ({ host_key, condition, ended_at_ms }: Row): Episode => ({
  hostKey: host_key,
  condition: Condition.parse(JSON.parse(condition)),
  endedAtMs: ended_at_ms === null ? null : Number(ended_at_ms),
})
