import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openStore } from '#shared/store/open.ts'
import { keys } from '#shared/store/redis/keys.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import { type StoreTables, storeTables } from '#shared/store/sql/tables.ts'
import { startPostgres, startRedis } from '../servers.ts'
import type { Place } from './stage.ts'

/** State in one SQLite file and what outlives it in another, as processes on one machine have them. */
export const openFiles = async ({ isPersistent = true } = {}): Promise<Place> => {
  await using opening = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-model-'))
  // What was killed may be about to let go of its files.
  opening.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  const fileOf = (name: string) => `file:${join(directory, `${name}.db`)}`
  const state: StateDatabase = { kind: 'sqlite', url: fileOf('state'), token: undefined, tablePrefix: '' }
  const open = () => openStore({ env: { SVC_STATE_DB_URL: state.url }, busIsShared: false })
  await (await open())[Symbol.asyncDispose]()
  const admin = opening.use(await openDatabase(state))
  const tables = admin.tables<StoreTables>(storeTables)
  const running = opening.move()
  return {
    openStore: open,
    database: isPersistent ? { ...state, url: fileOf('lasting') } : undefined,
    // Writers of one file wait for each other.
    holdMs: 5_000,
    async flush() {
      await tables.transaction().execute(async (transaction) => {
        for (const table of storeTables) await transaction.deleteFrom(table).execute()
      })
    },
    async waiting() {
      const { count } = await tables
        .selectFrom('watchhouse_outbox')
        .select((select) => select.fn.countAll().as('count'))
        .executeTakeFirstOrThrow()
      return Number(count)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** State in databases of one Redis, and what outlives each in a file of SQLite. */
export const openRedisPlaces = async (): Promise<AsyncDisposable & { open(): Promise<Place> }> => {
  await using opening = new AsyncDisposableStack()
  const redis = opening.use(await startRedis({ private: true }))
  const free = Array.from({ length: 16 }, (_, index) => index)
  const running = opening.move()
  return {
    async open() {
      await using taking = new AsyncDisposableStack()
      const number = free.pop()
      if (number === undefined) throw new Error('Redis has sixteen databases')
      taking.defer(() => void free.push(number))
      const { database, ...files } = taking.use(await openFiles())
      const url = `${redis.url}/${number}`
      await withRedis(url, (client) => client.flushdb())
      const taken = taking.move()
      return { ...files, ...inRedis(url), database, [Symbol.asyncDispose]: () => taken.disposeAsync() }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const withRedis = async <T>(url: string, ask: (client: Redis) => Promise<T>): Promise<T> => {
  const client = new Redis(url)
  // A server that a test crashes is asked again.
  client.on('error', () => {})
  try {
    return await ask(client)
  } finally {
    client.disconnect()
  }
}

const inRedis = (url: string): Pick<Place, 'openStore' | 'holdMs' | 'flush' | 'waiting'> => ({
  openStore: () => openStore({ env: { REDIS_URL: url }, busIsShared: true }),
  holdMs: 2_000,
  flush: () => withRedis(url, async (client) => void (await client.flushdb())),
  waiting: () => withRedis(url, (client) => client.hlen(keys.messages)),
})

/** State in Redis and what outlives it in PostgreSQL, both of which crash. */
export const openServers = async (): Promise<Place> => {
  await using opening = new AsyncDisposableStack()
  const redis = opening.use(await startRedis({ private: true }))
  const postgres = opening.use(await startPostgres({ private: true }))
  const running = opening.move()
  return {
    ...inRedis(redis.url),
    holdMs: 5_000,
    database: { kind: 'postgres', url: postgres.url, token: undefined, tablePrefix: '' },
    crash: [redis, postgres].map((server) => async () => {
      await server.kill()
      await server.restart()
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
