import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { z } from 'zod'
import { type Driver, type ClaimedText, maxClaimMs } from '../driver.ts'
import type { Placed } from '../store.ts'
import { type DatabaseListener, openDatabase } from './connection.ts'
import { type Sql, isPast } from './context.ts'
import { releaseLease, renewLease, takeLease } from './leases.ts'
import { migrate } from './migrate.ts'
import type { StateDatabase } from './state-database.ts'
import { type StoreTables, nowMs, storeMigrations, storeTables } from './tables.ts'
import { read, write } from './values.ts'

const everyMs = 60_000
const rowsLimit = 5_000

/** Removes expired values once a minute; reading passes over them already, so an outage in between does no harm. */
const startPruning = (context: Sql): AsyncDisposable => {
  const stop = new AbortController()
  const running = keepPruning(context, stop.signal)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await running
    },
  }
}

const keepPruning = async (context: Sql, signal: AbortSignal): Promise<void> => {
  while (!signal.aborted) {
    await wait(everyMs, undefined, { signal, ref: false }).catch(() => {})
    if (!signal.aborted) await context.database.run(() => prune(context)).catch(() => {})
  }
}

/** Removes some of the expired values; the next minute takes the next. */
export const prune = async ({ tables, now }: Sql): Promise<void> => {
  const expired = tables.selectFrom('watchhouse_state').select('key').where('expires_at_ms', '<=', now).limit(rowsLimit)
  await tables.deleteFrom('watchhouse_state').where('key', 'in', expired).where('expires_at_ms', '<=', now).execute()
}

const Claimed = z.array(z.object({ place: z.coerce.number(), id: z.string(), text: z.string(), attempt: z.number() }))

/** Claimers pass over rows that another is claiming at this moment, so they never wait for one another. */
const claim = async ({ database, tables, now }: Sql, max: number, claimMs: number): Promise<ClaimedText[]> => {
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
const ack = async ({ tables }: Sql, messages: readonly Placed[]): Promise<void> => {
  const ids = messages.map(({ id }) => id)
  await tables.deleteFrom('watchhouse_outbox').where('id', 'in', ids).execute()
}

/** State in tables of the state database. */
export const openSqlDriver = async (where: StateDatabase, told?: DatabaseListener): Promise<Driver> => {
  const database = await openDatabase(where, told)
  const tables = database.tables<StoreTables>(storeTables)
  const context: Sql = {
    database,
    tables,
    now: nowMs(database.kind),
    channel: `${database.prefix}watchhouse_outbox`,
    wakes: new Set(),
  }
  try {
    await migrate(database, 'store', storeTables, storeMigrations(database))
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
    read: (key) => database.run(() => read(context, key)),
    write: (change) => database.run(() => write(context, change)),
    writeThenRead: (change, key) => database.run(async () => [await write(context, change), await read(context, key)]),
    takeLease: (name, lengthMs) => database.run(() => takeLease(context, name, lengthMs)),
    renewLease: (fence, lengthMs) => database.run(() => renewLease(context, fence, lengthMs)),
    releaseLease: (fence) => database.run(() => releaseLease(context, fence)),
    claim: (max, claimMs) => database.run(() => claim(context, max, claimMs)),
    ack: (messages) => database.run(() => ack(context, messages)),
    placeOf: () => 0,
    listen: (wake) => listen(context, wake),
    async [Symbol.asyncDispose]() {
      await pruning[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** SQLite tells no other process; there the appends of this one wake, and the poll finds the rest. */
const listen = async ({ database, channel, wakes }: Sql, wake: () => void): Promise<AsyncDisposable> => {
  if (database.kind === 'postgres') return database.listen(channel, wake)
  wakes.add(wake)
  return { [Symbol.asyncDispose]: async () => void wakes.delete(wake) }
}
