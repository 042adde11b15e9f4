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
import { patient } from './patient.ts'

const waitingLimit = 1_000

interface Turns {
  /** Waits for the turn, which ends when disposed. Throws `busy` if too many wait. */
  take(): Promise<Disposable>
}

/** Creates a FIFO mutex. */
const createTurns = (): Turns => {
  let waiting = 0
  let last = Promise.resolve()
  return {
    async take() {
      if (waiting >= waitingLimit)
        throw new ServiceError('busy', `${waitingLimit} writes are already waiting for the state database; try again`)
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

/** The Kysely dialect for libSQL. SQLite has one writer: writes of this process are serialized, reads run concurrently. */
export const libsqlDialect = (clients: LibsqlClients): Dialect => ({
  createAdapter: () => new LibsqlAdapter(),
  createDriver: () => libsqlDriver(clients),
  createIntrospector: (kysely) => new SqliteIntrospector(kysely),
  createQueryCompiler: () => new SqliteQueryCompiler(),
})

/** Without this, Kysely would block all reads during a transaction. */
class LibsqlAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

const libsqlDriver = (clients: LibsqlClients): Driver => {
  const turns = createTurns()
  const transactions = new WeakMap<DatabaseConnection, OpenTransaction>()
  /** Ends a transaction and releases the writer, even if its last statement fails. */
  const end = async (connection: DatabaseConnection, last: (transaction: Transaction) => Promise<void>) => {
    const open = transactions.get(connection)
    // A failed commit has already ended the transaction when Kysely rolls it back.
    if (!open) return
    transactions.delete(connection)
    using _turn = open.turn
    await last(open.transaction)
  }
  return {
    init: async () => {},
    acquireConnection: async () =>
      connectionOf((connection, query) => {
        const open = transactions.get(connection)
        return open ? execute(open.transaction, query) : executeAlone(clients, turns, query)
      }),
    beginTransaction: async (connection) => {
      const turn = await turns.take()
      try {
        transactions.set(connection, {
          turn,
          transaction: await patient(clients.writer, () => clients.writer.transaction('write')),
        })
      } catch (error) {
        turn[Symbol.dispose]()
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
  turn: Disposable
  transaction: Transaction
}

const connectionOf = (
  answer: (connection: DatabaseConnection, query: CompiledQuery) => Promise<ResultSet>,
): DatabaseConnection => {
  const connection: DatabaseConnection = {
    async executeQuery<R>(query: CompiledQuery) {
      const { rows, columns, rowsAffected } = await answer(connection, query)
      // Statements on files run synchronously; without this pause no other work would run and no finished statement would be freed.
      await turn()
      const records = rows.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]])))
      // Rows have the types of the query, as with every dialect.
      return { rows: records as R[], numAffectedRows: BigInt(rowsAffected) }
    },
    streamQuery: () => {
      throw new Error('SQLite answers whole; select a page instead of a stream')
    },
  }
  return connection
}

const executeAlone = async (
  { reader, writer }: LibsqlClients,
  turns: ReturnType<typeof createTurns>,
  query: CompiledQuery,
): Promise<ResultSet> => {
  if (query.query.kind === 'SelectQueryNode') return patient(reader, () => execute(reader, query))
  using _turn = await turns.take()
  return await patient(writer, () => execute(writer, query))
}

const execute = (target: Client | Transaction, { sql, parameters }: CompiledQuery): Promise<ResultSet> =>
  target.execute({ sql, args: parameters.map(sqliteValue) })

const sqliteValue = (value: unknown) => {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint')
    return value
  if (typeof value === 'boolean') return value ? 1 : 0
  if (value instanceof Uint8Array) return value
  throw new TypeError(`SQLite cannot store a ${typeof value}`)
}
