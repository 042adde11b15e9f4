import { sql } from 'kysely'
import { z } from 'zod'
import { type ClaimedText, maxClaimMs } from '../driver.ts'
import type { Placed } from '../store.ts'
import { type Sql, isPast } from './context.ts'

const Claimed = z.array(z.object({ place: z.coerce.number(), id: z.string(), text: z.string(), attempt: z.number() }))

/** Claimers pass over rows that another is claiming at this moment, so they never wait for one another. */
export const claim = async ({ database, tables, now }: Sql, max: number, claimMs: number): Promise<ClaimedText[]> => {
  const oldest = tables
    .selectFrom('watchhouse_outbox')
    .select('place')
    .where((where) => isPast(where, 'claimed_until_ms', now, maxClaimMs))
    .orderBy('place')
    .limit(max)
  const rows = await tables
    .updateTable('watchhouse_outbox')
    .set((update) => ({
      claimed_until_ms: sql<number>`${now} + ${sql.lit(claimMs)}`,
      attempt: update('attempt', '+', 1),
    }))
    .where('place', 'in', database.kind === 'postgres' ? oldest.forUpdate().skipLocked() : oldest)
    .returning(['place', 'id', 'text', 'attempt'])
    .execute()
  return Claimed.parse(rows)
    .toSorted((a, b) => a.place - b.place)
    .map(({ id, text, attempt }) => ({ id, text, attempt, place: 0 }))
}

/** Removes messages that were handed on. */
export const ack = async ({ tables }: Sql, messages: readonly Placed[]): Promise<void> => {
  const ids = messages.map(({ id }) => id)
  await tables.deleteFrom('watchhouse_outbox').where('id', 'in', ids).execute()
}
