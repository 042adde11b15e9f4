import { expect, it, describe } from 'vitest'
import { Redis } from 'ioredis'
import { z } from 'zod'
import { describeWith, startPostgres, startRedis } from '../../testing/describe-with.ts'
import { openStore } from './open.ts'
import { pollUntil } from './implementations.suite.ts'

describe('choosing a store', () => {
  it('uses memory if nothing is configured', async () => {
    await using store = await openStore({ env: {}, busIsShared: false })
    expect(store.connected).toBe(true)
  })

  it.each([
    [{}, 'REDIS_URL', 'must be set when NATS_URL is'],
    [{ SVC_STATE_DB_URL: 'file:/tmp/state.db' }, 'SVC_STATE_DB_URL', 'cannot be shared by the processes of NATS_URL'],
  ])('rejects state that processes on a shared bus would not share: %j', async (env, name, sentence) => {
    await expect(openStore({ env, busIsShared: true })).rejects.toMatchObject({
      name: 'InvalidSettings',
      problems: [{ name, sentence: expect.stringContaining(sentence) }],
    })
  })

  it('reports that a SQLite file cannot be opened', async () => {
    const env = { SVC_STATE_DB_URL: 'file:/nowhere/at/all/state.db' }
    await expect(openStore({ env, busIsShared: false })).rejects.toMatchObject({ code: 'unavailable' })
  })
})

describeWith(['redis'], 'a Redis that is not set up to keep state', () => {
  it.each([
    [{ appendonly: 'no' }, 'enable its append-only file (appendonly yes)'],
    [{ 'maxmemory-policy': 'allkeys-lru' }, 'set maxmemory-policy to noeviction'],
    [{ requirepass: 'secret' }, 'rejects the user or the password'],
  ])('is rejected with a message: %j', async (settings, sentence) => {
    // The password is set after the start, because the readiness check of the test server sends none.
    const { requirepass, ...rest } = { requirepass: '', ...settings }
    await using server = await startRedis({ private: true, settings: rest })
    const client = new Redis(server.url)
    if (requirepass) await client.config('SET', 'requirepass', requirepass)
    client.disconnect()
    await expect(openStore({ env: { REDIS_URL: server.url }, busIsShared: true })).rejects.toMatchObject({
      problems: [{ name: 'REDIS_URL', sentence: expect.stringContaining(sentence) }],
    })
  })
})

describeWith(['redis'], 'a Redis that hangs', () => {
  it('is detected, and calls fail immediately', { tags: ['long'] }, async () => {
    await using server = await startRedis({ private: true })
    await using store = await openStore({ env: { REDIS_URL: server.url }, busIsShared: true })
    const client = new Redis(server.url)
    await client.client('PAUSE', 4_000, 'ALL')
    client.disconnect()
    await pollUntil(
      () => store.connected,
      (connected) => !connected,
    )
    const began = performance.now()
    await expect(store.get('a', z.number())).rejects.toMatchObject({ code: 'unavailable', retryAfterMs: 1_000 })
    expect(performance.now() - began).toBeLessThan(100)
    await pollUntil(() => store.connected, Boolean)
    expect(await store.get('a', z.number())).toBeUndefined()
  })
})

describeWith(['redis', 'postgres'], 'Redis beside a state database', () => {
  it('is used by the store', { tags: ['long'] }, async () => {
    await using redis = await startRedis({ private: true })
    await using postgres = await startPostgres({ private: true })
    const env = { REDIS_URL: redis.url, DATABASE_URL: postgres.url }
    await using store = await openStore({ env, busIsShared: true })
    await store.update('a', z.number(), () => ({ value: 1 }))
    const client = new Redis(redis.url)
    expect(await client.keys('watchhouse:*:value:a')).toHaveLength(1)
    client.disconnect()
  })
})
