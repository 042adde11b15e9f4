import {
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  type ReferenceExpression,
  sql,
  type SqlBool,
} from 'kysely'
import type { Database } from './connection.ts'
import type { StoreTables } from './tables.ts'

/** The operations of a database server that differ between PostgreSQL and SQLite. */
export interface DatabaseServer extends AsyncDisposable {
  kysely: Kysely<unknown>
  /** Like `kysely`, with a longer statement timeout for migrations. Absent if the database has no such timeout. */
  migrating?: Kysely<unknown>
  probe(): Promise<unknown>
  /** Calls the listener after a `pg_notify` on the channel and after a reconnect; never on SQLite. */
  listen(channel: string, listener: () => void): Promise<AsyncDisposable>
}

/** Dependencies of the SQL statements of the store. */
export interface SqlContext {
  database: Database
  tables: Kysely<StoreTables>
  now: RawBuilder<number>
  /** Channel that announces appended messages. */
  channel: string
  /** Listeners of this process, called directly if the server sends no notifications. */
  wakes: Set<() => void>
}

/** Notifies the listeners of all processes after the transaction commits; does nothing on SQLite. */
export const notify = async ({ database, channel }: SqlContext, transaction: Kysely<StoreTables>): Promise<void> => {
  if (database.kind === 'postgres') await sql`select pg_notify(${channel}, '')`.execute(transaction)
}

/**
 * Returns the condition that the time in `column`, the end of a period of `lengthMs`, has passed. A time more than
 * twice that length ahead was written before the database clock was set back; it counts as past.
 */
export const buildExpiryCondition = <DB, TB extends keyof DB>(
  where: ExpressionBuilder<DB, TB>,
  column: ReferenceExpression<DB, TB>,
  now: RawBuilder<number>,
  lengthMs: number,
): Expression<SqlBool> =>
  where.or([where(column, '<=', now), where(column, '>', sql<number>`${now} + ${sql.lit(2 * lengthMs)}`)])
