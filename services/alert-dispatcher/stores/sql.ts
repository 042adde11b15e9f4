import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { sqlEpisodes } from './sql-episodes.ts'
import { sqlEventEpisodes } from './sql-event-episodes.ts'
import { sqlHistory } from './sql-history.ts'
import { sqlPolicy } from './sql-policy.ts'
import { sqlSilences } from './sql-silences.ts'
import type { Stores } from './stores.ts'
import { type AlertTables, alertTables, createEventEpisodes, createTables } from './tables.ts'

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
