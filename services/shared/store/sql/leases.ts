import { sql } from 'kysely'
import { z } from 'zod'
import type { Fence } from '../store.ts'
import { type Sql, isPast } from './context.ts'

const Token = z.coerce.number()

/** Takes the lease when it is free; the row stays afterwards, so that tokens go on growing. All takers of a name use one length. */
export const takeLease = async ({ tables, now }: Sql, name: string, lengthMs: number): Promise<number | undefined> => {
  const expires_at_ms = sql<number>`${now} + ${sql.lit(lengthMs)}`
  const taken = await tables
    .insertInto('watchhouse_leases')
    .values({ name, token: 1, expires_at_ms })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((update) => ({ token: update('watchhouse_leases.token', '+', 1), expires_at_ms }))
        .where((where) => isPast(where, 'watchhouse_leases.expires_at_ms', now, lengthMs)),
    )
    .returning('token')
    .executeTakeFirst()
  return taken && Token.parse(taken.token)
}

/** Returns false for a lease that has ended or that another holds. */
export const renewLease = async ({ tables, now }: Sql, { name, token }: Fence, lengthMs: number): Promise<boolean> => {
  const renewed = await tables
    .updateTable('watchhouse_leases')
    .set({ expires_at_ms: sql<number>`${now} + ${sql.lit(lengthMs)}` })
    .where('name', '=', name)
    .where('token', '=', token)
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()
  return renewed.numUpdatedRows === 1n
}

/** A lease that was released is free by any clock. */
export const releaseLease = async ({ tables }: Sql, { name, token }: Fence): Promise<void> => {
  await tables
    .updateTable('watchhouse_leases')
    .set({ expires_at_ms: 0 })
    .where('name', '=', name)
    .where('token', '=', token)
    .execute()
}
