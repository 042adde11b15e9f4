import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from './connection.ts'
import type { StoreTables } from './tables.ts'

/** What the statements of the driver need. */
export interface Sql {
  database: Database
  tables: Kysely<StoreTables>
  now: RawBuilder<number>
  /** Where an append is told. */
  channel: string
  /** Listeners of this process, told directly where the server tells nobody. */
  wakes: Set<() => void>
}

/** Tells the listeners of all processes once the surrounding transaction is committed. */
export const notify = async ({ database, channel }: Sql, transaction: Kysely<StoreTables>): Promise<void> => {
  if (database.kind === 'postgres') await sql`select pg_notify(${channel}, '')`.execute(transaction)
}
