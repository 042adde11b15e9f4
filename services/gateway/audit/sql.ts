import type { ExpressionBuilder, Kysely } from 'kysely'
import { AuditRecord, broughtMark } from '#proto/audit.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import { migrate } from '#shared/store/sql/migrate.ts'
import { personalActions, personKinds, type AuditStore } from './store.ts'

interface AuditTables {
  watchhouse_audit: {
    id: string
    at_ms: number
    actor_kind: string
    subject: string
    action: string
    host: string | null
    target: string
    result: string
    detail: string | null
    took_ms: number | null
    request_id: string | null
  }
}
const names = ['watchhouse_audit'] as const

/** Records in the state database, which every process of the gateway shares. */
export const sqlAudit = async (database: Database): Promise<AuditStore> => {
  await migrate(database, 'audit', names, [{ name: 'audit', up: (tables) => createTable(tables, database.prefix) }])
  const tables = database.tables<AuditTables>(names)
  return {
    async put(record) {
      const { id, ...values } = rowOf(record)
      await database.run(() =>
        tables
          .insertInto('watchhouse_audit')
          .values({ id, ...values })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
          .execute(),
      )
    },
    async list({ action, subject, host, reader, beforeMs, limit }) {
      let wanted = tables.selectFrom('watchhouse_audit').selectAll().orderBy('at_ms', 'desc').orderBy('id').limit(limit)
      if (action !== undefined) wanted = wanted.where('action', '=', action)
      if (subject !== undefined) wanted = wanted.where('subject', '=', subject)
      if (host !== undefined) wanted = wanted.where('host', '=', host)
      if (beforeMs !== undefined) wanted = wanted.where('at_ms', '<', beforeMs)
      if (reader !== undefined) wanted = wanted.where(visibleTo(reader))
      return (await database.run(() => wanted.execute())).map(recordOf)
    },
    async prune(beforeMs) {
      const removing = tables.deleteFrom('watchhouse_audit').where('at_ms', '<', beforeMs)
      const { numDeletedRows } = await database.run(() => removing.executeTakeFirst())
      return Number(numDeletedRows)
    },
  }
}

/** The condition of `isVisibleTo`. */
const visibleTo = (reader: string) => (columns: ExpressionBuilder<AuditTables, 'watchhouse_audit'>) =>
  columns.or([
    columns('actor_kind', 'not in', [...personKinds]),
    columns('subject', '=', reader),
    columns.and([
      columns('action', 'not in', [...personalActions]),
      columns.or([columns('host', 'is', null), columns('host', 'not like', `%${broughtMark}`)]),
    ]),
  ])

type Row = AuditTables['watchhouse_audit']

const rowOf = ({ atMs, actor, target, tookMs, requestId, ...record }: AuditRecord): Row => ({
  ...record,
  at_ms: atMs,
  actor_kind: actor.kind,
  subject: actor.subject,
  target: JSON.stringify(target),
  took_ms: tookMs,
  request_id: requestId,
})

const recordOf = ({ at_ms, actor_kind, subject, target, took_ms, request_id, ...row }: Row): AuditRecord =>
  AuditRecord.parse({
    ...row,
    atMs: Number(at_ms),
    actor: { kind: actor_kind, subject },
    target: JSON.parse(target),
    tookMs: took_ms,
    requestId: request_id,
  })

const createTable = async (tables: Kysely<unknown>, prefix: string): Promise<void> => {
  await tables.schema
    .createTable('watchhouse_audit')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('at_ms', 'bigint', (column) => column.notNull())
    .addColumn('actor_kind', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('host', 'text')
    .addColumn('target', 'text', (column) => column.notNull())
    .addColumn('result', 'text', (column) => column.notNull())
    .addColumn('detail', 'text')
    .addColumn('took_ms', 'real')
    .addColumn('request_id', 'text')
    .execute()
  await tables.schema.createIndex(`${prefix}watchhouse_audit_at`).on('watchhouse_audit').column('at_ms').execute()
}
