import type { Driver } from '../driver.ts'
import { type DatabaseListener, openDatabase } from './connection.ts'
import type { Sql } from './context.ts'
import { releaseLease, renewLease, takeLease } from './leases.ts'
import { migrate } from './migrate.ts'
import { ack, claim } from './outbox.ts'
import { startPruning } from './prune.ts'
import type { StateDatabase } from './state-database.ts'
import { type StoreTables, nowMs, storeMigrations, storeTables } from './tables.ts'
import { read, write } from './values.ts'

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
