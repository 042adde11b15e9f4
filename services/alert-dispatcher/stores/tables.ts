import type { Kysely } from 'kysely'
import type { Database } from '#shared/store/sql/connection.ts'

/** Times are epoch milliseconds; what has many fields and is only ever read whole is JSON. */
export interface AlertTables {
  watchhouse_alert_episodes: {
    id: string
    host_key: string
    rule_id: string
    severity: string
    since_ms: number
    ended_at_ms: number | null
    sequence: number
    condition: string
  }
  watchhouse_alert_history: {
    id: string
    kind: string
    host_key: string | null
    rule_id: string
    episode: string
    severity: string
    title: string
    value: number | null
    threshold: number | null
    since_ms: number
    at_ms: number
    reason: string
  }
  watchhouse_alert_silences: {
    kind: string
    episode: string
    host_key: string | null
    rule_id: string
    by_subject: string
    note: string
    at_ms: number
    until_ms: number | null
  }
  watchhouse_alert_policy: { kind: string; id: string; body: string; changed_at_ms: number }
  watchhouse_alert_event_episodes: {
    id: string
    place: string
    sequence: number
    entry: string
    ended_at_ms: number | null
  }
}

/** Every table of the stores. */
export const alertTables = [
  'watchhouse_alert_episodes',
  'watchhouse_alert_history',
  'watchhouse_alert_silences',
  'watchhouse_alert_policy',
  'watchhouse_alert_event_episodes',
] as const

/** What the statements of the stores need. */
export interface AlertSql {
  database: Database
  tables: Kysely<AlertTables>
}

/** Rows that one statement carries at most: SQLite takes 32,766 values. */
const rowsAtOnce = 500

export const portionsOf = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / rowsAtOnce) }, (_, index) =>
    all.slice(index * rowsAtOnce, (index + 1) * rowsAtOnce),
  )

export const createTables = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  await createEpisodes(tables, prefix)
  await createHistory(tables, prefix)
  await tables.schema
    .createTable('watchhouse_alert_silences')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('episode', 'text', (column) => column.notNull())
    .addColumn('host_key', 'text')
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('by_subject', 'text', (column) => column.notNull())
    .addColumn('note', 'text', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('until_ms', 'bigint')
    .addPrimaryKeyConstraint(`${prefix}watchhouse_alert_silences_key`, ['kind', 'episode'])
    .execute()
  await tables.schema
    .createTable('watchhouse_alert_policy')
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('id', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('changed_at_ms', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint(`${prefix}watchhouse_alert_policy_key`, ['kind', 'id'])
    .execute()
}

const createEpisodes = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  const table = 'watchhouse_alert_episodes'
  await tables.schema
    .createTable(table)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('host_key', 'text', (column) => column.notNull())
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('since_ms', 'bigint', (column) => column.notNull())
    .addColumn('ended_at_ms', 'bigint')
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('condition', 'text', (column) => column.notNull())
    .execute()
  await tables.schema.createIndex(`${prefix}${table}_ended`).on(table).column('ended_at_ms').execute()
}

const createHistory = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  const table = 'watchhouse_alert_history'
  await tables.schema
    .createTable(table)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('host_key', 'text')
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('episode', 'text', (column) => column.notNull())
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('title', 'text', (column) => column.notNull())
    .addColumn('value', 'double precision')
    .addColumn('threshold', 'double precision')
    .addColumn('since_ms', 'bigint', (column) => column.notNull())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .execute()
  await tables.schema.createIndex(`${prefix}${table}_at`).on(table).column('at_ms').execute()
  await tables.schema.createIndex(`${prefix}${table}_host`).on(table).columns(['host_key', 'at_ms']).execute()
}

export const createEventEpisodes = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  const table = 'watchhouse_alert_event_episodes'
  await tables.schema
    .createTable(table)
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('place', 'text', (column) => column.notNull())
    .addColumn('sequence', 'bigint', (column) => column.notNull())
    .addColumn('entry', 'text', (column) => column.notNull())
    .addColumn('ended_at_ms', 'bigint')
    .execute()
  await tables.schema.createIndex(`${prefix}${table}_ended`).on(table).column('ended_at_ms').execute()
}
