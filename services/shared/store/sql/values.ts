import { type Kysely, sql } from 'kysely'
import { z } from 'zod'
import type { StoreChange, StoredValue, ValueChange, WriteResult } from '../driver.ts'
import { isTransactionConflict } from './failure.ts'
import { type SqlContext, notify } from './context.ts'
import type { StoreTables } from './tables.ts'

type Tables = Kysely<StoreTables>

/** Reads the values of keys in order; undefined for a missing or expired one. */
export const readStoredValues = async (
  { tables, now }: SqlContext,
  keys: readonly string[],
): Promise<(StoredValue | undefined)[]> => {
  const rows = await tables
    .selectFrom('watchhouse_state')
    .select(['key', 'version', 'text'])
    .where('key', 'in', keys)
    .where((where) => where.or([where('expires_at_ms', 'is', null), where('expires_at_ms', '>', now)]))
    .execute()
  const byKey = new Map(rows.map(({ key, version, text }) => [key, { version, text }]))
  return keys.map((key) => byKey.get(key))
}

/** Removes messages from the outbox. */
export const ackMessages = async (tables: Tables, ids: readonly string[]): Promise<void> => {
  await tables.deleteFrom('watchhouse_outbox').where('id', 'in', ids).execute()
}

/**
 * Applies a change if every value has its expected version. Uses a transaction only if more than one statement is
 * needed.
 */
export const applyChange = async (context: SqlContext, change: StoreChange): Promise<WriteResult> => {
  const { tables, wakes } = context
  const { values, messages, acks, needs, fence, claimMs } = change
  const [only, ...others] = values
  try {
    if (only && others.length + messages.length + acks.length + needs.length === 0 && !fence)
      return await writeValue(context, tables, only)
    const result = await tables
      .transaction()
      .execute((transaction) => writeAll(context, transaction, change))
      .catch(readRejection)
    if (result === 'written' && messages.length > 0 && claimMs === undefined) for (const wake of wakes) wake()
    return result
  } catch (error) {
    if (isTransactionConflict(error)) return 'changed'
    throw error
  }
}

/** An error that rolls back the transaction and carries the result of the write. */
class WriteRejection extends Error {
  readonly result: WriteResult

  constructor(result: WriteResult) {
    super(result)
    this.result = result
  }
}

const readRejection = (error: unknown): WriteResult => {
  if (error instanceof WriteRejection) return error.result
  throw error
}

/** Writes values in the order of their keys, so that two writers of the same keys cannot deadlock. */
const writeAll = async (context: SqlContext, transaction: Tables, change: StoreChange): Promise<WriteResult> => {
  const { messages, acks, outboxLimit, claimMs } = change
  if (await isFenced(context, transaction, change)) return 'fenced'
  for (const value of change.values.toSorted((one, other) => (one.key < other.key ? -1 : 1)))
    if ((await writeValue(context, transaction, value)) === 'changed') throw new WriteRejection('changed')
  if (!(await areInOutbox(context, transaction, change))) throw new WriteRejection('gone')
  if (acks.length > 0) await ackMessages(transaction, acks)
  if (messages.length === 0) return 'written'
  if ((await countMessages(transaction, outboxLimit)) + messages.length > outboxLimit) throw new WriteRejection('full')
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

/**
 * Returns whether all required messages are in the outbox. Locks their rows until the end of the transaction, so that
 * no other process acknowledges them.
 */
const areInOutbox = async ({ database }: SqlContext, transaction: Tables, { needs }: StoreChange): Promise<boolean> => {
  if (needs.length === 0) return true
  const query = transaction.selectFrom('watchhouse_outbox').select('id').where('id', 'in', needs)
  return (await (database.kind === 'postgres' ? query.forShare() : query).execute()).length === needs.length
}

const Token = z.coerce.number()

/**
 * Returns whether a newer lease exists. Locks the row of the lease until the end of the transaction, so that no process
 * takes it before the write.
 */
const isFenced = async ({ database }: SqlContext, transaction: Tables, { fence }: StoreChange): Promise<boolean> => {
  if (!fence) return false
  const query = transaction.selectFrom('watchhouse_leases').select('token').where('name', '=', fence.name)
  const row = await (database.kind === 'postgres' ? query.forShare() : query).executeTakeFirst()
  return row !== undefined && Token.parse(row.token) > fence.token
}

/** Counts messages up to the limit, so that the cost does not grow with the outbox. */
const countMessages = async (transaction: Tables, limit: number): Promise<number> => {
  const { count } = await transaction
    .selectFrom((from) => from.selectFrom('watchhouse_outbox').select('place').limit(limit).as('held'))
    .select((select) => select.fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return Token.parse(count)
}

const writeValue = async (context: SqlContext, tables: Tables, change: ValueChange): Promise<WriteResult> => {
  const { key, expected, version, text, expiresInMs } = change
  if (text === undefined) return removeValue(context, tables, change)
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

const removeValue = async (
  context: SqlContext,
  tables: Tables,
  { key, expected }: ValueChange,
): Promise<WriteResult> => {
  if (expected === undefined) return (await readStoredValues({ ...context, tables }, [key]))[0] ? 'changed' : 'written'
  const removed = await tables
    .deleteFrom('watchhouse_state')
    .where('key', '=', key)
    .where('version', '=', expected)
    .executeTakeFirst()
  return removed.numDeletedRows === 1n ? 'written' : 'changed'
}
