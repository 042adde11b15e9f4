import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { z } from 'zod'
import { type StoreDriver, type ClaimedOutboxMessage, maxClaimMs } from '../driver.ts'
import type { Fence } from '../store.ts'
import { type DatabaseListener, openDatabase } from './connection.ts'
import { type SqlContext, buildExpiryCondition } from './context.ts'
import { migrate } from './migrate.ts'
import type { StateDatabase } from './state-database.ts'
import { type StoreTables, createNowExpression, listStoreMigrations, storeTableNames } from './tables.ts'
import { ackMessages, readStoredValues, applyChange } from './values.ts'

const Token = z.coerce.number()

/**
 * Takes the lease and returns its token; undefined while another process holds the lease. The row is kept after a
 * release, so that tokens keep growing. All takers of a name use the same length.
 */
const takeLease = async ({ tables, now }: SqlContext, name: string, lengthMs: number): Promise<number | undefined> => {
  const expires_at_ms = sql<number>`${now} + ${sql.lit(lengthMs)}`
  const row = await tables
    .insertInto('watchhouse_leases')
    .values({ name, token: 1, expires_at_ms })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((update) => ({ token: update('watchhouse_leases.token', '+', 1), expires_at_ms }))
        .where((where) => buildExpiryCondition(where, 'watchhouse_leases.expires_at_ms', now, lengthMs)),
    )
    .returning('token')
    .executeTakeFirst()
  return row && Token.parse(row.token)
}

/** Extends the lease and returns whether it is still held; false if it has expired or another process holds it. */
const renewLease = async ({ tables, now }: SqlContext, { name, token }: Fence, lengthMs: number): Promise<boolean> => {
  const renewed = await tables
    .updateTable('watchhouse_leases')
    .set({ expires_at_ms: sql<number>`${now} + ${sql.lit(lengthMs)}` })
    .where('name', '=', name)
    .where('token', '=', token)
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()
  return renewed.numUpdatedRows === 1n
}

/** Releases the lease by setting its end to 0, which is always in the past. */
const releaseLease = async ({ tables }: SqlContext, { name, token }: Fence): Promise<void> => {
  await tables
    .updateTable('watchhouse_leases')
    .set({ expires_at_ms: 0 })
    .where('name', '=', name)
    .where('token', '=', token)
    .execute()
}

const pruneEveryMs = 60_000
const maxRowsPerPrune = 5_000

/** Removes expired values once a minute until disposed. Failures are harmless, because reads ignore expired values. */
const startPruning = (context: SqlContext): AsyncDisposable => {
  const stop = new AbortController()
  const running = keepPruning(context, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const keepPruning = async (context: SqlContext, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await wait(pruneEveryMs, undefined, { signal, ref: false }).catch(() => {})
    if (!signal.aborted) await context.database.run(() => removeExpiredValues(context)).catch(() => {})
  }
}

/** Removes one batch of expired values. */
export const removeExpiredValues = async ({ tables, now }: SqlContext): Promise<void> => {
  const expired = tables
    .selectFrom('watchhouse_state')
    .select('key')
    .where('expires_at_ms', '<=', now)
    .limit(maxRowsPerPrune)
  await tables.deleteFrom('watchhouse_state').where('key', 'in', expired).where('expires_at_ms', '<=', now).execute()
}

const Claimed = z.array(z.object({ place: z.coerce.number(), id: z.string(), text: z.string(), attempt: z.number() }))

/** Claims the oldest messages. Skips rows that another process is claiming, so claimers never wait for each other. */
const claim = async (
  { database, tables, now }: SqlContext,
  max: number,
  claimMs: number,
): Promise<ClaimedOutboxMessage[]> => {
  const oldest = tables
    .selectFrom('watchhouse_outbox')
    .select('place')
    .where((where) => buildExpiryCondition(where, 'claimed_until_ms', now, maxClaimMs))
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
    .map(({ id, text, attempt }) => ({ id, text, attempt }))
}

/** Maximum ids per statement. */
const maxIdsPerStatement = 5_000
const splitIntoBatches = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / maxIdsPerStatement) }, (_, index) =>
    ids.slice(index * maxIdsPerStatement, (index + 1) * maxIdsPerStatement),
  )

const renew = async ({ tables, now }: SqlContext, ids: readonly string[], claimMs: number): Promise<void> => {
  for (const batch of splitIntoBatches(ids))
    await tables
      .updateTable('watchhouse_outbox')
      .set({ claimed_until_ms: sql<number>`${now} + ${sql.lit(claimMs)}` })
      .where('id', 'in', batch)
      .where('claimed_until_ms', '>', now)
      .execute()
}

const holds = async ({ tables }: SqlContext, ids: readonly string[]): Promise<string[]> =>
  (await tables.selectFrom('watchhouse_outbox').select('id').where('id', 'in', ids).execute()).map(({ id }) => id)

/** Opens a driver on the state database and migrates its tables. */
export const openSqlDriver = async (where: StateDatabase, report?: DatabaseListener): Promise<StoreDriver> => {
  const database = await openDatabase(where, report)
  const tables = database.tables<StoreTables>(storeTableNames)
  const context: SqlContext = {
    database,
    tables,
    now: createNowExpression(database.kind),
    channel: `${database.prefix}watchhouse_outbox`,
    wakes: new Set(),
  }
  try {
    await migrate(database, 'store', storeTableNames, listStoreMigrations(database))
  } catch (error) {
    await database[Symbol.asyncDispose]()
    throw error
  }
  const pruning = startPruning(context)
  return {
    get connected() {
      return database.connected
    },
    get problem() {
      return database.problem
    },
    read: (keys) => database.run(() => readStoredValues(context, keys)),
    write: (change) => database.run(() => applyChange(context, change)),
    takeLease: (name, lengthMs) => database.run(() => takeLease(context, name, lengthMs)),
    renewLease: (fence, lengthMs) => database.run(() => renewLease(context, fence, lengthMs)),
    releaseLease: (fence) => database.run(() => releaseLease(context, fence)),
    claim: (max, claimMs) => database.run(() => claim(context, max, claimMs)),
    ack: (ids) => database.run(() => ackMessages(tables, ids)),
    renew: (ids, claimMs) => database.run(() => renew(context, ids, claimMs)),
    holds: (ids) => database.run(() => holds(context, ids)),
    listen: (wake) => listen(context, wake),
    async [Symbol.asyncDispose]() {
      await pruning[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** Calls `wake` after appends. On SQLite only appends of this process notify; polling finds the others. */
const listen = async ({ database, channel, wakes }: SqlContext, wake: () => void): Promise<AsyncDisposable> => {
  if (database.kind === 'postgres') return database.listen(channel, wake)
  wakes.add(wake)
  return { [Symbol.asyncDispose]: async () => void wakes.delete(wake) }
}
