import { type ExpressionBuilder, type Kysely, sql } from 'kysely'
import { CompletedDelivery, subscriptionChannel } from '#proto/delivery.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import type { DeliveryStore } from './deliveries.ts'

interface DeliveryTables {
  watchhouse_deliveries: {
    id: string
    at_ms: number
    episode: string
    sequence: number
    kind: string
    rule_id: string
    host_key: string | null
    severity: string
    channel: string
    target: string
    result: string
    reason: string | null
    attempts: number
  }
}
const names = ['watchhouse_deliveries'] as const

/** Opens delivery records in the state database, which all dispatchers share. */
export const openSqlDeliveries = async (database: Database): Promise<DeliveryStore> => {
  await migrate(database, 'deliveries', names, [
    { name: 'deliveries', up: (tables) => createTable(tables, database.prefix) },
  ])
  const tables = database.tables<DeliveryTables>(names)
  return {
    async put(delivered) {
      if (delivered.length > 0) await database.run(() => insert(tables, delivered))
    },
    async list({ beforeMs, subscriptions = [], limit, ...equal }) {
      let selection = tables.selectFrom('watchhouse_deliveries').selectAll().orderBy('at_ms', 'desc').orderBy('id')
      for (const name of ['channel', 'target', 'episode', 'result'] as const) {
        const value = equal[name]
        if (value !== undefined) selection = selection.where(name, '=', value)
      }
      if (beforeMs !== undefined) selection = selection.where('at_ms', '<', beforeMs)
      if (subscriptions !== 'all') selection = selection.where(filterVisible(subscriptions))
      return (await database.run(() => selection.limit(limit).execute())).map(toCompletedDelivery)
    },
    async notifiedTargets(episode) {
      const selection = tables
        .selectFrom('watchhouse_deliveries')
        .select((expression) => [
          'channel',
          'target',
          expression.fn.max('sequence').as('sequence'),
          sql<number>`max(case when ${sql.ref('kind')} = 'recover' then 1 else 0 end)`.as('is_over'),
        ])
        .where('episode', '=', episode)
        .where('result', '=', 'sent')
        .groupBy(['channel', 'target'])
      const rows = await database.run(() => selection.execute())
      return rows.map(({ sequence, is_over, ...row }) => ({
        ...row,
        sequence: Number(sequence),
        isOver: Number(is_over) === 1,
      }))
    },
    async prune(beforeMs) {
      const deletion = tables.deleteFrom('watchhouse_deliveries').where('at_ms', '<', beforeMs)
      const { numDeletedRows } = await database.run(() => deletion.executeTakeFirst())
      return Number(numDeletedRows)
    },
  }
}

/** Inserts or updates results; a `sent` result is never overwritten. */
const insert = (tables: Kysely<DeliveryTables>, delivered: readonly CompletedDelivery[]): Promise<unknown> =>
  tables
    .insertInto('watchhouse_deliveries')
    .values(delivered.map(toRow))
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet((update) => ({
          at_ms: update.ref('excluded.at_ms'),
          result: update.ref('excluded.result'),
          reason: update.ref('excluded.reason'),
          attempts: update.ref('excluded.attempts'),
        }))
        .where('watchhouse_deliveries.result', '<>', 'sent'),
    )
    .execute()

/** Returns the SQL condition for the deliveries that `isDeliveryVisible` accepts. */
const filterVisible =
  (subscriptions: readonly string[]) => (columns: ExpressionBuilder<DeliveryTables, 'watchhouse_deliveries'>) =>
    columns.or([
      columns('channel', '<>', subscriptionChannel),
      ...(subscriptions.length > 0 ? [columns('target', 'in', [...subscriptions])] : []),
    ])

type Row = DeliveryTables['watchhouse_deliveries']

const toRow = ({ atMs, ruleId, hostKey, ...delivered }: CompletedDelivery): Row => ({
  ...delivered,
  at_ms: atMs,
  rule_id: ruleId,
  host_key: hostKey,
})

const toCompletedDelivery = ({ at_ms, rule_id, host_key, ...row }: Row): CompletedDelivery =>
  CompletedDelivery.parse({ ...row, atMs: Number(at_ms), ruleId: rule_id, hostKey: host_key })

const createTable = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  await tables.schema
    .createTable('watchhouse_deliveries')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('episode', 'text', (column) => column.notNull())
    .addColumn('sequence', 'integer', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('rule_id', 'text', (column) => column.notNull())
    .addColumn('host_key', 'text')
    .addColumn('severity', 'text', (column) => column.notNull())
    .addColumn('channel', 'text', (column) => column.notNull())
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('result', 'text', (column) => column.notNull())
    .addColumn('reason', 'text')
    .addColumn('attempts', 'integer', (column) => column.notNull())
    .execute()
  const index = (column: string) =>
    tables.schema
      .createIndex(`${prefix}watchhouse_deliveries_${column}`)
      .on('watchhouse_deliveries')
      .column(column)
      .execute()
  await index('at_ms')
  await index('episode')
}
