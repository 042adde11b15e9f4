import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openStore } from '#shared/store/open.ts'
import { type Database, openDatabase } from '#shared/store/sql/connection.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import type { Store } from '#shared/store/store.ts'
import { describeWith, startPostgres, startRedis } from '../../testing/describe-with.ts'
import type { Notification } from '../notification.ts'
import { createNotification } from './testing/notification.ts'
import { testServiceCall, openDeliveryFixture } from './testing/fixture.ts'
import { createScriptedChannel } from './testing/scripted-channel.ts'

const most = 4

/** Returns a store that calls `count` with a description of each write. */
const countingStore = (store: Store, count: (what: string) => void): Store => ({
  get connected() {
    return store.connected
  },
  get: (key, schema) => store.get(key, schema),
  getAll: (keys, schema) => store.getAll(keys, schema),
  update(key, schema, step, fence) {
    count(`update ${key}`)
    return store.update(key, schema, step, fence)
  },
  updateNew(key, schema, step) {
    count(`updateNew ${key}`)
    return store.updateNew(key, schema, step)
  },
  updateTogether(keys, step) {
    count(`together ${keys.one?.key} ${keys.many.keys.join()}`)
    return store.updateTogether(keys, step)
  },
  lease: (name, lengthMs) => store.lease(name, lengthMs),
  outbox: {
    ...store.outbox,
    ack(ids) {
      if (ids.length > 0) count(`ack ${ids.join()}`)
      return store.outbox.ack(ids)
    },
  },
  [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
})

const countingDatabase = (database: Database, count: (what: string) => void): Database =>
  Object.create(database, {
    run: {
      value: <T>(work: () => Promise<T>) => {
        count('row')
        return database.run(work)
      },
    },
  })

interface Servers extends AsyncDisposable {
  store: Store
  database: StateDatabase
}

const onServers = async (): Promise<Servers> => {
  await using starting = new AsyncDisposableStack()
  const redis = starting.use(await startRedis({ private: true }))
  const postgres = starting.use(await startPostgres({ private: true }))
  const store = starting.use(await openStore({ env: { REDIS_URL: redis.url }, busIsShared: true }))
  const running = starting.move()
  const database: StateDatabase = { kind: 'postgres', url: postgres.url, token: undefined, tablePrefix: '' }
  return { store, database, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const onFile = async (): Promise<Servers> => {
  await using starting = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'watchhouse-writes-'))
  starting.defer(() => rm(directory, { recursive: true }))
  const url = `file:${join(directory, 'state.db')}`
  const store = starting.use(await openStore({ env: { SVC_STATE_DB_URL: url }, busIsShared: false }))
  const running = starting.move()
  const database: StateDatabase = { kind: 'sqlite', url, token: undefined, tablePrefix: '' }
  return { store, database, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const kinds = [
  ['a SQLite file', [], onFile],
  ['Redis and PostgreSQL', ['redis', 'postgres'], onServers],
] as const

for (const [name, needs, start] of kinds)
  describeWith(needs, `a notification with ${name}`, () => {
    let servers: Servers
    beforeAll(async () => {
      servers = await start()
    })
    afterAll(() => servers[Symbol.asyncDispose]())

    it(`costs at most ${most} durable writes from decision to recorded delivery`, async () => {
      await using opened = new AsyncDisposableStack()
      let writes: string[] = []
      const count = (what: string) => void writes.push(what)
      const database = opened.use(await openDatabase(servers.database))
      const post = createScriptedChannel()
      const store = countingStore(servers.store, count)
      const fixture = opened.use(
        await openDeliveryFixture({ channels: [post.channel], store, database: countingDatabase(database, count) }),
      )
      const cost = async (notification: Notification) => {
        writes = []
        await fixture.notify(notification)
        await waitUntil(
          () => writes.includes('row') && post.notified.includes(`a ${notification.kind} ${notification.episode}`),
        )
        await waitUntil(async () => (await servers.store.outbox.holds([notification.id])).size === 0)
        const [...made] = writes
        const [row] = await fixture.delivery.handlers.deliveries({ limit: 1 }, testServiceCall)
        expect(row).toMatchObject({ kind: notification.kind, result: 'sent' })
        return made
      }
      // The first notification also writes the records of targets and the installation id, which are written only once.
      await cost(createNotification({ episode: 'before' }))
      const kinds = ['fire', 'escalate', 'remind', 'recover'] as const
      for (const [sequence, kind] of kinds.entries()) {
        const made = await cost(createNotification({ kind, episode: 'e', sequence }))
        expect(made.length, made.join('\n')).toBeLessThanOrEqual(most)
      }
    })
  })
