import { type Kysely, sql, type Transaction } from 'kysely'
import type { Database } from './connection.ts'

/** Runs queries as one step; with a name, while nobody runs another of that name: what it counts stays so until what it writes is there. */
export const alone = <T, R>(
  { kind, prefix, run }: Database,
  tables: Kysely<T>,
  name: string | undefined,
  step: (transaction: Transaction<T>) => Promise<R>,
): Promise<R> =>
  run(() =>
    tables.transaction().execute(async (transaction) => {
      // SQLite lets only one write anyway.
      if (name !== undefined && kind === 'postgres')
        await sql`select pg_advisory_xact_lock(hashtext(${prefix + name}))`.execute(transaction)
      return step(transaction)
    }),
  )
