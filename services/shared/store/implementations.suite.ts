import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type TestServer, startPostgres, startRedis } from '../../testing/describe-with.ts'
import type { Environment } from '../config/environment.ts'
import type { StoreLimits } from './change.ts'
import { openStore } from './open.ts'
import type { Store } from './store.ts'

/** One kind of store under test. */
export interface StoreImplementation {
  name: string
  needs: readonly ('redis' | 'postgres')[]
  /** Whether appends by other handles cause a notification; otherwise polling finds them. */
  pushes: boolean
  start(): Promise<StoreTestServer>
}

/** A server, or memory, with a separate namespace for every test. */
export interface StoreTestServer extends AsyncDisposable {
  server: TestServer | undefined
  /** Opens another handle on the namespace of the current test. */
  open(limits?: Partial<StoreLimits>): Promise<Store>
  /** Environment variables with which another process can open this namespace. */
  env(): Environment
  /** Starts an empty namespace and closes the handles of the previous one. */
  next(): Promise<void>
}

const memory: StoreImplementation = {
  name: 'memory',
  needs: [],
  pushes: true,
  start: async () => {
    // All calls of `open` return the same store, because stores in memory share no state.
    let store: Promise<Store> | undefined
    const next = async () => {
      await (await store)?.[Symbol.asyncDispose]()
      store = undefined
    }
    const open = (limits?: Partial<StoreLimits>) => (store ??= openStore({ env: {}, busIsShared: false, limits }))
    return { server: undefined, open, env: () => ({}), next, [Symbol.asyncDispose]: next }
  },
}

const redis: StoreImplementation = {
  name: 'Redis',
  needs: ['redis'],
  pushes: true,
  start: async () => {
    const server = await startRedis({ private: true })
    const empty = async () => {
      const client = new Redis(server.url)
      await client.flushdb()
      await client.script('FLUSH')
      client.disconnect()
    }
    return running(
      server,
      () => server.stop(),
      async () => {
        await empty()
        return { REDIS_URL: server.url }
      },
    )
  },
}

const postgres: StoreImplementation = {
  name: 'PostgreSQL',
  needs: ['postgres'],
  pushes: true,
  start: async () => {
    const server = await startPostgres({ private: true })
    return running(
      server,
      () => server.stop(),
      async () => ({ DATABASE_URL: server.url, SVC_STATE_DB_TABLE_PREFIX: `t${randomUUID().slice(0, 8)}_` }),
    )
  },
}

const libsql: StoreImplementation = {
  name: 'libSQL file',
  needs: [],
  pushes: false,
  start: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'watchhouse-store-'))
    const remove = () => rm(directory, { recursive: true, force: true })
    return running(undefined, remove, async () => ({
      SVC_STATE_DB_URL: `file:${join(directory, `${randomUUID()}.db`)}`,
    }))
  },
}

const running = async (
  server: TestServer | undefined,
  stop: () => Promise<void>,
  place: () => Promise<Environment>,
): Promise<StoreTestServer> => {
  let env = await place()
  let opened: Store[] = []
  const release = async () => {
    for (const store of opened) await store[Symbol.asyncDispose]()
    opened = []
  }
  return {
    server,
    open: async (limits) => {
      const store = await openStore({ env, busIsShared: false, limits })
      opened.push(store)
      return store
    },
    env: () => env,
    next: async () => {
      await release()
      env = await place()
    },
    async [Symbol.asyncDispose]() {
      await release()
      await stop()
    },
  }
}

/** All kinds of stores. */
export const implementations: readonly StoreImplementation[] = [memory, redis, postgres, libsql]

const untilWithinMs = 10_000

/** Polls until the value matches; fails after ten seconds. */
export const pollUntil = async <T>(poll: () => Promise<T> | T, wanted: (answer: T) => boolean): Promise<T> => {
  const end = performance.now() + untilWithinMs
  for (;;) {
    const answer = await poll()
    if (wanted(answer)) return answer
    if (performance.now() > end)
      throw new Error(`condition not met after ${untilWithinMs} ms: ${JSON.stringify(answer)}`)
    await wait(10)
  }
}
