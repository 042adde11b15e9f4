import { Redis } from 'ioredis'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import type { Environment } from '../config/environment.ts'
import { type StoreTestServer, implementations } from './implementations.suite.ts'
import { redisKeys, formatLeaseKey } from './redis/keys.ts'
import { openDatabase } from './sql/connection.ts'
import { readStateDatabase } from './sql/state-database.ts'
import { type StoreTables, storeTableNames } from './sql/tables.ts'
import type { Store } from './store.ts'

const lengthMs = 15_000
const hourMs = 3_600_000

/** Adds an hour to every stored expiry, as if the server clock had been set back by an hour. */
const setClockBack = async (env: Environment): Promise<void> => {
  const where = readStateDatabase(env)
  if (where) {
    await using database = await openDatabase(where)
    const tables = database.tables<StoreTables>(storeTableNames)
    await tables
      .updateTable('watchhouse_leases')
      .set({ expires_at_ms: sql<number>`expires_at_ms + ${sql.lit(hourMs)}` })
      .where('expires_at_ms', '>', 0)
      .execute()
    await tables
      .updateTable('watchhouse_outbox')
      .set({ claimed_until_ms: sql<number>`claimed_until_ms + ${sql.lit(hourMs)}` })
      .where('claimed_until_ms', '>', 0)
      .execute()
    return
  }
  const redis = new Redis(env.REDIS_URL ?? '')
  const lease = formatLeaseKey('sweep')
  const leftMs = await redis.pttl(lease)
  if (leftMs > 0) await redis.pexpire(lease, leftMs + hourMs)
  for (const id of await redis.zrange(redisKeys.claimed, '0', '-1'))
    await redis.zincrby(redisKeys.claimed, String(hourMs), id)
  redis.disconnect()
}

const append = (store: Store) =>
  store.update('a', z.number(), () => ({ value: 1, outbox: [{ id: '1', topic: 'page', payload: 'x' }] }))

for (const implementation of implementations.filter(({ name }) => name !== 'memory')) {
  describeWith(implementation.needs, `${implementation.name} whose clock is set back by an hour`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('grants a lease that was released', async () => {
      const store = await running.open()
      await (await store.lease('sweep', lengthMs))?.[Symbol.asyncDispose]()
      await setClockBack(running.env())
      expect(await store.lease('sweep', lengthMs)).toBeDefined()
    })

    it('grants the lease of an ended process, with a larger token', async () => {
      const store = await running.open()
      const lost = await store.lease('sweep', lengthMs)
      expect(await store.lease('sweep', lengthMs)).toBeUndefined()
      await setClockBack(running.env())
      const taken = await store.lease('sweep', lengthMs)
      expect(taken?.fence.token).toBeGreaterThan(lost?.fence.token ?? Infinity)
    })

    it('keeps a lease whose holder renews it', async () => {
      const store = await running.open()
      const held = await store.lease('sweep', lengthMs)
      await setClockBack(running.env())
      expect(await held?.renew(lengthMs)).toBe(true)
      expect(await store.lease('sweep', lengthMs)).toBeUndefined()
    })

    it('delivers a message that an ended process had claimed', async () => {
      const store = await running.open()
      await append(store)
      expect(await store.outbox.claim(10, lengthMs)).toHaveLength(1)
      expect(await store.outbox.claim(10, lengthMs)).toEqual([])
      await setClockBack(running.env())
      expect(await store.outbox.claim(10, lengthMs)).toMatchObject([{ id: '1', attempt: 2 }])
    })
  })
}
