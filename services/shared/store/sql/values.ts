import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { Change, StoredValue, WriteResult } from '../driver.ts'
import { isLostRace } from './failure.ts'
import { type Sql, notify } from './context.ts'
import type { StoreTables } from './tables.ts'

type Tables = Kysely<StoreTables>

/** The value of a key, unless it has expired. */
export const read = async ({ tables, now }: Sql, key: string): Promise<StoredValue | undefined> =>
  tables
    .selectFrom('watchhouse_state')
    .select(['version', 'text'])
    .where('key', '=', key)
    .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', now)]))
    .executeTakeFirst()

/** Compare-and-set of one key, with the messages of the step; in a transaction only when it takes more than one statement. */
export const write = async (context: Sql, change: Change): Promise<WriteResult> => {
  const { tables, wakes } = context
  const { messages, fence, claimMs } = change
  try {
    if (messages.length === 0 && !fence) return await writeValue(context, tables, change)
    const result = await tables.transaction().execute((transaction) => writeAll(context, transaction, change))
    if (result === 'written' && messages.length > 0 && claimMs === undefined) for (const wake of wakes) wake()
    return result
  } catch (error) {
    if (isLostRace(error)) return 'changed'
    throw error
  }
}

const writeAll = async (context: Sql, transaction: Tables, change: Change): Promise<WriteResult> => {
  const { messages, outboxLimit, claimMs } = change
  if (await isFenced(context, transaction, change)) return 'fenced'
  if (messages.length > 0 && (await waiting(transaction, outboxLimit)) + messages.length > outboxLimit) {
    return (await isCurrent({ ...context, tables: transaction }, change)) ? 'full' : 'changed'
  }
  const result = await writeValue(context, transaction, change)
  if (result !== 'written' || messages.length === 0) return result
  const unclaimed = { attempt: 0, claimed_until_ms: 0 }
  const claimed = { attempt: 1, claimed_until_ms: sql<number>`${context.now} + ${sql.lit(claimMs)}` }
  const rows = messages.map((message) => ({ ...message, ...(claimMs === undefined ? unclaimed : claimed) }))
  await transaction
    .insertInto('watchhouse_outbox')
    .values(rows)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  if (claimMs === undefined) await notify(context, transaction)
  return 'written'
}

const Token = z.coerce.number()

/** Holds the lease's row until the end of the transaction, so that nobody takes the lease between this look and the write. */
const isFenced = async ({ database }: Sql, transaction: Tables, { fence }: Change): Promise<boolean> => {
  if (!fence) return false
  const query = transaction.selectFrom('watchhouse_leases').select('token').where('name', '=', fence.name)
  const row = await (database.kind === 'postgres' ? query.forShare() : query).executeTakeFirst()
  return row !== undefined && Token.parse(row.token) > fence.token
}

/** Counts no further than the limit, which keeps the look cheap however full the outbox is. */
const waiting = async (transaction: Tables, limit: number): Promise<number> => {
  const { count } = await transaction
    .selectFrom((from) => from.selectFrom('watchhouse_outbox').select('place').limit(limit).as('held'))
    .select((select) => select.fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Token.parse(count)
}

const isCurrent = async (context: Sql, { key, expected }: Change): Promise<boolean> =>
  (await read(context, key))?.version === expected

const writeValue = async (context: Sql, tables: Tables, change: Change): Promise<WriteResult> => {
  const { key, expected, version, text, expiresInMs } = change
  if (text === undefined) return remove(context, tables, change)
  const expires_at_ms = expiresInMs === undefined ? null : sql<number | null>`${context.now} + ${sql.lit(expiresInMs)}`
  const { now } = context
  if (expected === undefined) {
    const inserted = await tables
      .insertInto('watchhouse_state')
      .values({ key, version, text, expires_at_ms })
      .onConflict((conflict) =>
        conflict
          .column('key')
          .doUpdateSet({ version, text, expires_at_ms })
          .where('watchhouse_state.expires_at_ms', '<=', now),
      )
      .executeTakeFirst()
    return inserted.numInsertedOrUpdatedRows === 1n ? 'written' : 'changed'
  }
  const updated = await tables
    .updateTable('watchhouse_state')
    .set({ version, text, expires_at_ms })
    .where('key', '=', key)
    .where('version', '=', expected)
    .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', now)]))
    .executeTakeFirst()
  return updated.numUpdatedRows === 1n ? 'written' : 'changed'
}

const remove = async (context: Sql, tables: Tables, { key, expected }: Change): Promise<WriteResult> => {
  if (expected === undefined) return (await read({ ...context, tables }, key)) ? 'changed' : 'written'
  const removed = await tables
    .deleteFrom('watchhouse_state')
    .where('key', '=', key)
    .where('version', '=', expected)
    .executeTakeFirst()
  return removed.numDeletedRows === 1n ? 'written' : 'changed'
}
