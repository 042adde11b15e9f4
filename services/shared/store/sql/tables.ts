import { type Generated, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './connection.ts'
import type { Migration } from './migrate.ts'

/** The tables of a store: values, leases and the outbox. Times are epoch milliseconds of the database clock. */
export interface StoreTables {
  watchhouse_state: {
    key: string
    version: string
    text: string
    expires_at_ms: number | null | RawBuilder<number | null>
  }
  watchhouse_leases: { name: string; token: number; expires_at_ms: number | RawBuilder<number> }
  watchhouse_outbox: {
    place: Generated<number>
    id: string
    text: string
    attempt: number
    claimed_until_ms: number | RawBuilder<number>
  }
}

/** The names of all tables of the store. */
export const storeTableNames = ['watchhouse_state', 'watchhouse_leases', 'watchhouse_outbox'] as const

/** Returns the SQL expression for the current time of the database clock, which all processes share. */
export const createNowExpression = (kind: Database['kind']): RawBuilder<number> =>
  kind === 'postgres'
    ? sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`
    : sql<number>`cast(unixepoch('subsec') * 1000 as integer)`

/** Returns the migrations of the store. Index names contain `prefix`, because PostgreSQL has one namespace for them. */
export const listStoreMigrations = ({ kind, prefix }: Database): readonly Migration[] => [
  { name: 'state, leases and outbox', up: (tables) => createTables(tables, kind, prefix) },
]

const createTables = async (tables: Kysely<unknown>, kind: Database['kind'], prefix: string): Promise<void> => {
  await tables.schema
    .createTable('watchhouse_state')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint')
    .execute()
  await tables.schema
    .createTable('watchhouse_leases')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('token', 'bigint', (column) => column.notNull())
    .addColumn('expires_at_ms', 'bigint', (column) => column.notNull())
    .execute()
  await tables.schema
    .createTable('watchhouse_outbox')
    // Without `autoIncrement`, SQLite reuses the ids of deleted rows.
    .addColumn('place', kind === 'postgres' ? 'bigserial' : 'integer', (column) =>
      kind === 'postgres' ? column.primaryKey() : column.primaryKey().autoIncrement(),
    )
    .addColumn('id', 'text', (column) => column.notNull().unique())
    .addColumn('text', 'text', (column) => column.notNull())
    .addColumn('attempt', 'integer', (column) => column.notNull())
    .addColumn('claimed_until_ms', 'bigint', (column) => column.notNull())
    .execute()
  await tables.schema
    .createIndex(`${prefix}watchhouse_state_expiry`)
    .on('watchhouse_state')
    .column('expires_at_ms')
    .execute()
}
