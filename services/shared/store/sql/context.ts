import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  type ReferenceExpression,
  type SqlBool,
  sql,
} from 'kysely'
import type { Database } from './connection.ts'
import type { StoreTables } from './tables.ts'

/** What the statements of the driver need. */
export interface Sql {
  database: Database
  tables: Kysely<StoreTables>
  now: RawBuilder<number>
  /** Channel on which appends are announced. */
  channel: string
  /** Listeners of this process, called directly where the server does not notify. */
  wakes: Set<() => void>
}

/** Notifies the listeners of all processes once the surrounding transaction is committed. */
export const notify = async ({ database, channel }: Sql, transaction: Kysely<StoreTables>): Promise<void> => {
  if (database.kind === 'postgres') await sql`select pg_notify(${channel}, '')`.execute(transaction)
}

/**
 * Whether the end of something that lasts `lengthMs` has passed. An end much further away than that was written before the clock of
 * the database was set back: to wait for it would stop all work for as long as the step was.
 */
export const isPast = <DB, TB extends keyof DB>(
  where: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
  now: RawBuilder<number>,
  lengthMs: number,
): Expression<SqlBool> =>
  where.or([where(column, '<=', now), where(column, '>', sql<number>`${now} + ${sql.lit(2 * lengthMs)}`)])
