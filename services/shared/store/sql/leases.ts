import { sql } from 'kysely'
import { z } from 'zod'
import type { Fence } from '../store.ts'
import type { Sql } from './context.ts'

const Token = z.coerce.number()

/** Takes the lease when nobody holds it; the row stays afterwards, so that tokens go on growing. */
export const takeLease = async ({ tables, now }: Sql, name: string, lengthMs: number): Promise<number | undefined> => {
  const expires_at_ms = sql<number>`${now} + ${sql.lit(lengthMs)}`
  const taken = await tables
    .insertInto('watchhouse_leases')
    .values({ name, token: 1, expires_at_ms })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((update) => ({ token: update('watchhouse_leases.token', '+', 1), expires_at_ms }))
        .where('watchhouse_leases.expires_at_ms', '<=', now),
    )
    .returning('token')
    .executeTakeFirst()
  return taken && Token.parse(taken.token)
}

/** Length 0 gives the lease back. */
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
