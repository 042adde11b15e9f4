import { setImmediate as turn } from 'node:timers/promises'
import type { Client, ResultSet, Transaction } from '@libsql/client'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { ServiceError } from '#proto/errors.ts'
import { retryWhileLocked } from './retry-while-locked.ts'

const maxWaiting = 1_000

interface Mutex {
  /** Waits for the lock and returns it; disposing it releases the lock. Throws `busy` if too many callers wait. */
  acquire(): Promise<Disposable>
}

/** Creates a FIFO mutex. */
const createMutex = (): Mutex => {
  let waiting = 0
  let last = Promise.resolve()
  return {
    async acquire() {
      if (waiting >= maxWaiting)
        throw new ServiceError('busy', `the state database is busy: ${maxWaiting} writes are waiting; try again`)
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      waiting += 1
      await before
      waiting -= 1
      return { [Symbol.dispose]: resolve }
    },
  }
}

/** Separate clients for reads and writes: reconnecting for a write must not close the connection of a read. */
export interface LibsqlClients {
  reader: Client
  writer: Client
}

/**
 * Returns the Kysely dialect for libSQL. SQLite has one writer: writes of this process are serialized, reads run
 * concurrently.
 */
export const createLibsqlDialect = (clients: LibsqlClients): Dialect => ({
  createAdapter: () => new LibsqlAdapter(),
  createDriver: () => createLibsqlDriver(clients),
  createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** Allows reads during a transaction, which Kysely would otherwise block. */
class LibsqlAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

const createLibsqlDriver = (clients: LibsqlClients): Driver => {
  const mutex = createMutex()
  const transactions = new WeakMap<DatabaseConnection, OpenTransaction>()
  /** Ends a transaction and releases the writer, even if its last statement fails. */
  const end = async (connection: DatabaseConnection, last: (transaction: Transaction) => Promise<void>) => {
    const open = transactions.get(connection)
    // A failed commit has already ended the transaction when Kysely rolls it back.
    if (!open) return
    transactions.delete(connection)
    using _lock = open.lock
    await last(open.transaction)
  }
  return {
    init: async () => {},
    acquireConnection: async () =>
      createConnection((connection, query) => {
        const open = transactions.get(connection)
        return open ? execute(open.transaction, query) : executeAlone(clients, mutex, query)
      }),
    beginTransaction: async (connection) => {
      const lock = await mutex.acquire()
      try {
        transactions.set(connection, {
          lock,
          transaction: await retryWhileLocked(clients.writer, () => clients.writer.transaction('write')),
        })
      } catch (error) {
        lock[Symbol.dispose]()
        throw error
      }
    },
    commitTransaction: (connection) => end(connection, (transaction) => transaction.commit()),
    rollbackTransaction: (connection) => end(connection, (transaction) => transaction.rollback()),
    releaseConnection: async () => {},
    destroy: async () => {
      clients.reader.close()
      clients.writer.close()
    },
  }
}

interface OpenTransaction {
  lock: Disposable
  transaction: Transaction
}

const createConnection = (
  runQuery: (connection: DatabaseConnection, query: CompiledQuery) => Promise<ResultSet>,
): DatabaseConnection => {
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery) {
      const { rows, columns, rowsAffected } = await runQuery(connection, query)
      // Statements on files run synchronously; without this pause no other work would run and no finished statement
      // would be freed.
      await turn()
      const records = rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
      // The query declares the type of its rows; no dialect verifies it.
      return { rows: records as R[], numAffectedRows: BigInt(rowsAffected) }
    },
    streamQuery: () => {
      throw new Error('SQLite does not support streaming; select pages of rows')
    },
  }
  return connection
}

const executeAlone = async (
  { reader, writer }: LibsqlClients,
  mutex: ReturnType<typeof createMutex>,
  query: CompiledQuery,
): Promise<ResultSet> => {
  if (query.query.kind === 'SelectQueryNode') return retryWhileLocked(reader, () => execute(reader, query))
  using _lock = await mutex.acquire()
  return await retryWhileLocked(writer, () => execute(writer, query))
}

const execute = (target: Client | Transaction, { sql, parameters }: CompiledQuery): Promise<ResultSet> =>
  target.execute({ sql, args: parameters.map(toSqliteValue) })

const toSqliteValue = (value: unknown) => {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite cannot store a value of type "${typeof value}"`)
}
