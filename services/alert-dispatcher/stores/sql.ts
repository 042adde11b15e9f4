import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { EventEpisode, type EventEpisodes } from '../events/event-episode.ts'
import { removeOld } from './remove-old.ts'
import { sqlEpisodes } from './sql-episodes.ts'
import { sqlHistory } from './sql-history.ts'
import { sqlPolicy } from './sql-policy.ts'
import { sqlSilences } from './sql-silences.ts'
import type { Stores } from './stores.ts'
import {
  type AlertTables,
  alertTables,
  createEventEpisodes,
  createTables,
  type AlertSql,
  portionsOf,
} from './tables.ts'

const table = 'watchhouse_alert_event_episodes'

const sqlEventEpisodes = ({ database, tables }: AlertSql): EventEpisodes => ({
  async open() {
    const open = tables.selectFrom(table).selectAll().where('ended_at_ms', 'is', null)
    return (await database.run(() => open.execute())).map(episodeOf)
  },
  async write(episodes) {
    // One statement must not change a row twice.
    const latest = [...new Map(episodes.map((episode) => [episode.entry.condition.episode, episode])).values()]
    for (const portion of portionsOf(latest)) {
      // The end is final, and a write that comes late changes nothing.
      const writing = tables
        .insertInto(table)
        .values(portion.map(rowOf))
        .onConflict((conflict) =>
          conflict
            .column('id')
            .doUpdateSet((update) => ({
              sequence: update.ref('excluded.sequence'),
              entry: update.ref('excluded.entry'),
              ended_at_ms: update.ref('excluded.ended_at_ms'),
            }))
            .whereRef(`${table}.sequence`, '<=', 'excluded.sequence')
            .where(({ eb, or }) =>
              or([eb(`${table}.ended_at_ms`, 'is', null), eb('excluded.ended_at_ms', 'is not', null)]),
            ),
        )
      await database.run(() => writing.execute())
    }
  },
  prune: (beforeMs) =>
    removeOld((limit) => {
      const ended = tables.selectFrom(table).select('id').where('ended_at_ms', '<', beforeMs).limit(limit)
      return database.run(() => tables.deleteFrom(table).where('id', 'in', ended).executeTakeFirst())
    }),
})

type Row = AlertTables[typeof table]

const rowOf = ({ place, entry, endedAtMs }: EventEpisode): Row => ({
  id: entry.condition.episode,
  place,
  sequence: entry.condition.sequence,
  entry: JSON.stringify(entry),
  ended_at_ms: endedAtMs,
})

/** PostgreSQL gives 64-bit integers as text. */
const episodeOf = ({ place, entry, ended_at_ms }: Row): EventEpisode =>
  EventEpisode.parse({
    place,
    entry: JSON.parse(entry),
    endedAtMs: ended_at_ms === null ? null : Number(ended_at_ms),
  })

/** Kept in the state database, which every process of the dispatcher shares. */
export const sqlStores = async (database: Database): Promise<Stores> => {
  const { prefix } = database
  await migrate(database, 'alerts', alertTables, [
    { name: 'alerts', up: (tables) => createTables(tables, prefix) },
    { name: 'episodes of inbound events', up: (tables) => createEventEpisodes(tables, prefix) },
  ])
  const sql = { database, tables: database.tables<AlertTables>(alertTables) }
  const silences = sqlSilences(sql)
  return {
    lasting: true,
    episodes: sqlEpisodes(sql, silences),
    eventEpisodes: sqlEventEpisodes(sql),
    history: sqlHistory(sql),
    silences,
    policy: sqlPolicy(sql),
  }
}
