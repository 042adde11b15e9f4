import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from './connection.ts'

/** Runs queries as one step while nobody runs another of that name: what it counts stays so until what it writes is there. */
export const alone = <T, R>(
  { kind, prefix, run }: Database,
  tables: Kysely<T>,
  name: string,
  step: (transaction: Transaction<T>) => Promise<R>,
): Promise<R> =>
  run(() =>
    tables.transaction().execute(async (transaction) => {
      // SQLite lets only one write anyway.
      if (kind === 'postgres') await sql`select pg_advisory_xact_lock(hashtext(${prefix + name}))`.execute(transaction)
      return step(transaction)
    }),
  )
