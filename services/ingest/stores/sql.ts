import { type Kysely, sql } from 'kysely'
import { InboundEvent } from '#proto/inbound-event.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { searched } from './memory.ts'
import type { Events } from './store.ts'

interface EventTables {
  watchhouse_events: {
    id: string
    received_at_ms: number
    source: string
    severity: string
    status: string
    /** What a search looks at, in lower case. */
    searched: string
    event: string
  }
}
const table = 'watchhouse_events'

/** Events in the state database, which every process of the service shares. */
export const sqlEvents = async (database: Database): Promise<Events> => {
  await migrate(database, 'events', [table], [{ name: 'events', up: (tables) => createTable(tables, database.prefix) }])
  const tables = database.tables<EventTables>([table])
  return {
    async put(event) {
      const inserting = tables
        .insertInto(table)
        .values(rowOf(event))
        .onConflict((conflict) => conflict.column('id').doNothing())
      await database.run(() => inserting.execute())
    },
    async list({ source, severity, status, search, fromMs, toMs, after, limit }) {
      let wanted = tables.selectFrom(table).select('event').orderBy('received_at_ms', 'desc').orderBy('id').limit(limit)
      if (source !== undefined) wanted = wanted.where('source', '=', source)
      if (severity !== undefined) wanted = wanted.where('severity', '=', severity)
      if (status !== undefined) wanted = wanted.where('status', '=', status)
      if (fromMs !== undefined) wanted = wanted.where('received_at_ms', '>=', fromMs)
      if (toMs !== undefined) wanted = wanted.where('received_at_ms', '<', toMs)
      if (search !== undefined) wanted = wanted.where(sql<boolean>`searched like ${containing(search)} escape '!'`)
      if (after !== undefined) {
        wanted = wanted.where(({ eb, and, or }) =>
          or([
            eb('received_at_ms', '<', after.receivedAt),
            and([eb('received_at_ms', '=', after.receivedAt), eb('id', '>', after.id)]),
          ]),
        )
      }
      const rows = await database.run(() => wanted.execute())
      return rows.map(({ event }) => InboundEvent.parse(JSON.parse(event)))
    },
    async prune(beforeMs) {
      const { numDeletedRows } = await database.run(() =>
        tables.deleteFrom(table).where('received_at_ms', '<', beforeMs).executeTakeFirst(),
      )
      return Number(numDeletedRows)
    },
  }
}

const containing = (search: string): string => `%${search.toLowerCase().replace(/[!%_]/g, '!$&')}%`

const rowOf = (event: InboundEvent): EventTables[typeof table] => ({
  id: event.id,
  received_at_ms: event.receivedAt,
  source: event.source,
  severity: event.severity,
  status: event.status,
  searched: storable(searched(event)),
  event: storable(JSON.stringify(event)),
})

/** PostgreSQL keeps no text with a zero in it; JSON writes it as an escape, which stays. */
const storable = (text: string): string => text.replaceAll('\0', ' ')

const createTable = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  await tables.schema
    .createTable(table)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('received_at_ms', 'bigint', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) => column.notNull())
    .addColumn('searched', 'text', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .execute()
  await tables.schema
    .createIndex(`${prefix}watchhouse_events_received`)
    .on(table)
    .columns(['received_at_ms', 'id'])
    .execute()
}
