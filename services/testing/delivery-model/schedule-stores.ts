import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openStore } from '#shared/store/open.ts'
import { redisKeys } from '#shared/store/redis/keys.ts'
import { openDatabase } from '#shared/store/sql/connection.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import { type StoreTables, storeTableNames } from '#shared/store/sql/tables.ts'
import { startPostgres, startRedis } from '../describe-with.ts'
import type { ScheduleStores } from './schedule-environment.ts'

/** Opens a store and a state database in SQLite files, as on a single machine. */
export const openFileStores = async ({ isPersistent = true } = {}): Promise<ScheduleStores> => {
  await using opening = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-model-'))
  // Retries the removal, because a killed process may still have files open.
  opening.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
  const fileOf = (name: string) => `file:${join(directory, `${name}.db`)}`
  const state: StateDatabase = { kind: 'sqlite', url: fileOf('state'), token: undefined, tablePrefix: '' }
  const open = () => openStore({ env: { SVC_STATE_DB_URL: state.url }, busIsShared: false })
  await (await open())[Symbol.asyncDispose]()
  const admin = opening.use(await openDatabase(state))
  const tables = admin.tables<StoreTables>(storeTableNames)
  const running = opening.move()
  return {
    openStore: open,
    database: isPersistent ? { ...state, url: fileOf('lasting') } : undefined,
    async flush() {
      await tables.transaction().execute(async (transaction) => {
        for (const table of storeTableNames) await transaction.deleteFrom(table).execute()
      })
    },
    async waiting() {
      return (await tables.selectFrom('watchhouse_outbox').select('id').execute()).map(({ id }) => id)
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/**
 * Starts Redis. Each opened environment has one of its databases as the store, and an SQLite file as state database.
 */
export const openRedisStores = async (): Promise<AsyncDisposable & { open(): Promise<ScheduleStores> }> => {
  await using opening = new AsyncDisposableStack()
  const redis = opening.use(await startRedis({ private: true }))
  const free = Array.from({ length: 16 }, (_, index) => index)
  const running = opening.move()
  return {
    async open() {
      await using taking = new AsyncDisposableStack()
      const number = free.pop()
      if (number === undefined) throw new Error('no free Redis database: all 16 are in use')
      taking.defer(() => void free.push(number))
      const { database, ...files } = taking.use(await openFileStores())
      const url = `${redis.url}/${number}`
      await withRedis(url, (client) => client.flushdb())
      const taken = taking.move()
      return { ...files, ...createRedisStores(url), database, [Symbol.asyncDispose]: () => taken.disposeAsync() }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

const withRedis = async <T>(url: string, run: (client: Redis) => Promise<T>): Promise<T> => {
  const client = new Redis(url)
  // The client reconnects while a test restarts the server, so its errors are ignored.
  client.on('error', () => {})
  try {
    return await run(client)
  } finally {
    client.disconnect()
  }
}

const createRedisStores = (url: string): Pick<ScheduleStores, 'openStore' | 'flush' | 'waiting'> => ({
  openStore: () => openStore({ env: { REDIS_URL: url }, busIsShared: true }),
  flush: () => withRedis(url, async (client) => void (await client.flushdb())),
  waiting: () => withRedis(url, (client) => client.hkeys(redisKeys.messages)),
})

/** Starts Redis as the store and PostgreSQL as the state database. Tests can crash both. */
export const openServerStores = async (): Promise<ScheduleStores> => {
  await using opening = new AsyncDisposableStack()
  const redis = opening.use(await startRedis({ private: true }))
  const postgres = opening.use(await startPostgres({ private: true }))
  const running = opening.move()
  return {
    ...createRedisStores(redis.url),
    database: { kind: 'postgres', url: postgres.url, token: undefined, tablePrefix: '' },
    crash: [redis, postgres].map((server) => async () => {
      await server.kill()
      await server.restart()
    }),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
