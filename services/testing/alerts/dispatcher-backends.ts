import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import { openNatsQueue } from '#shared/bus/durable/nats-queue.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { type Hub, openMemoryHub, openNatsHub } from '#shared/bus/open.ts'
import { openStore } from '#shared/store/open.ts'
import type { Store } from '#shared/store/store.ts'
import type { Topology } from '../product.ts'
import { type TestServer, startNats, startPostgres, startRedis } from '../describe-with.ts'

/** The store, queue and state database that the dispatchers of one product share. */
export interface DispatcherBackend {
  hub: Hub
  openStore(): Promise<Store>
  openQueue(instance: string): Promise<Queue>
  /** Environment variables with the address of the state database. */
  env: Record<string, string>
  /** Empties the store, as if Redis had lost its files. */
  emptyStore(): Promise<void>
  /** The Redis server. Undefined if everything is in memory. */
  redis?: TestServer
}

/** Servers that provide an empty store, queue and state database for each test. */
export interface DispatcherBackends extends AsyncDisposable {
  next(): Promise<DispatcherBackend>
}

/** Opens backends in memory with a state database in a file, or backends on real NATS, Redis and PostgreSQL. */
export const openDispatcherBackends = (topology: Topology): Promise<DispatcherBackends> =>
  topology === 'memory' ? memoryGround() : serverGround()

const memoryGround = async (): Promise<DispatcherBackends> => {
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-alerts-'))
  return {
    async next() {
      let store = await openStore({ env: {}, busIsShared: false })
      const openQueue = openMemoryQueues()
      return {
        hub: openMemoryHub(),
        // All dispatchers of the test share one store, which is closed after the last of them.
        openStore: async () => createSharedStore(() => store),
        openQueue: () => openQueue(),
        env: { SVC_STATE_DB_URL: `file:${join(directory, `${randomUUID()}.db`)}` },
        async emptyStore() {
          store = await openStore({ env: {}, busIsShared: false })
        },
      }
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  }
}

const createSharedStore = (store: () => Store): Store => ({
  connected: true,
  get: (key, schema) => store().get(key, schema),
  update: (key, schema, step, fence) => store().update(key, schema, step, fence),
  updateNew: (key, schema, step) => store().updateNew(key, schema, step),
  updateTogether: (keys, step) => store().updateTogether(keys, step),
  getAll: (keys, schema) => store().getAll(keys, schema),
  lease: (name, lengthMs) => store().lease(name, lengthMs),
  outbox: {
    claim: (max, claimMs) => store().outbox.claim(max, claimMs),
    ack: (ids) => store().outbox.ack(ids),
    renew: (ids, claimMs) => store().outbox.renew(ids, claimMs),
    holds: (ids) => store().outbox.holds(ids),
    onAppend: (listener) => store().outbox.onAppend(listener),
    takeOwn: (taker) => store().outbox.takeOwn(taker),
  },
  async [Symbol.asyncDispose]() {},
})

const serverGround = async (): Promise<DispatcherBackends> => {
  await using starting = new AsyncDisposableStack()
  const started = await Promise.all([startNats({ private: true }), startRedis({ private: true }), startPostgres()])
  for (const server of started) starting.use(server)
  const [nats, redis, postgres] = started
  const emptyStore = async () => {
    const client = new Redis(redis.url)
    await client.flushall()
    client.disconnect()
  }
  const servers = starting.move()
  return {
    async next() {
      await emptyStore()
      return {
        hub: openNatsHub({ url: nats.url }),
        openStore: () => openStore({ env: { REDIS_URL: redis.url }, busIsShared: true }),
        openQueue: (instance) =>
          openNatsQueue({ url: nats.url, replicas: 1 }, { caller: 'alert-dispatcher', instance }),
        env: { SVC_STATE_DB_URL: postgres.url, SVC_STATE_DB_TABLE_PREFIX: `t${randomUUID().slice(0, 8)}_` },
        emptyStore,
        redis,
      }
    },
    [Symbol.asyncDispose]: () => servers.disposeAsync(),
  }
}
