import { createClock, systemClock } from '#shared/time/clock.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type StoreTestServer, implementations } from '#shared/store/implementations.suite.ts'
import type { Store } from '#shared/store/store.ts'
import { openStore } from '#shared/store/open.ts'
import { describeWith, startRedis } from '../../../testing/describe-with.ts'
import { openDeniedUsers } from '../denied-users.ts'
import { type ApiKeys, type NewApiKey, openApiKeys } from './keys.ts'

const dayMs = 86_400_000
const grant: NewApiKey = { label: 'laptop', scopes: ['read', 'mcp'], days: 30 }

for (const implementation of implementations.filter(({ name }) => name === 'memory' || name === 'Redis')) {
  describeWith(implementation.needs, `API keys in ${implementation.name}`, () => {
    let running: StoreTestServer
    let store: Store
    let nowMs: number
    let env: Record<string, string>
    let keys: ApiKeys
    const clock = createClock(() => nowMs)
    beforeAll(async () => {
      running = await implementation.start()
    })
    beforeEach(async () => {
      nowMs = Date.UTC(2026, 5, 1, 12, 0, 0, 500)
      env = { SVC_API_KEY_SECRET: 'first secret' }
      store = await running.open()
      keys = openApiKeys({ env, store, clock, denied: openDeniedUsers({}, store) })
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('identify themselves, with their scopes', async () => {
      const { apiKey, claims } = await keys.issue(grant)
      expect(await keys.verify(apiKey)).toEqual({
        kind: 'key',
        subject: `key:${claims.jti}`,
        features: 'all',
        scopes: ['read', 'mcp'],
        profile: { name: 'laptop' },
      })
    })

    it('identify their user if they have one', async () => {
      const { apiKey } = await keys.issue({ ...grant, subject: 'ada' })
      expect(await keys.verify(apiKey)).toMatchObject({ kind: 'key', subject: 'ada' })
    })

    it.each([1, 30, 365])('expire after %d days, to the second', async (days) => {
      const { apiKey, claims } = await keys.issue({ ...grant, days })
      expect(claims.exp - claims.iat).toBe((days * dayMs) / 1000)
      nowMs = claims.exp * 1000 - 1
      expect(await keys.verify(apiKey)).toBeDefined()
      nowMs = claims.exp * 1000
      expect(await keys.verify(apiKey)).toBeUndefined()
    })

    it('are rejected once revoked, without effect on others', async () => {
      const [first, second] = await Promise.all([keys.issue(grant), keys.issue(grant)])
      expect(await keys.verify(first.apiKey)).toBeDefined()
      const revoked = await keys.revoke(first.claims.jti)
      expect(revoked.revokedAtMs).toBe(nowMs)
      const elsewhere = openApiKeys({ env, store: await running.open(), clock, denied: openDeniedUsers({}, store) })
      expect(await elsewhere.verify(first.apiKey)).toBeUndefined()
      expect(await elsewhere.verify(second.apiKey)).toBeDefined()
      nowMs += 29 * dayMs
      expect(await keys.verify(first.apiKey)).toBeUndefined()
      expect(await keys.revoke(first.claims.jti)).toEqual(revoked)
    })

    it('can be revoked by their user, and by no other user', async () => {
      const { claims } = await keys.issue({ ...grant, subject: 'ada' })
      await expect(keys.revoke(claims.jti, 'eve')).rejects.toMatchObject({ code: 'not-found' })
      await expect(keys.revoke('AAAAAAAAAAAAAAAA')).rejects.toMatchObject({ code: 'not-found' })
      expect((await keys.revoke(claims.jti, 'ada')).revokedAtMs).toBe(nowMs)
    })

    it('survive a rotation of their secret, but not its removal', async () => {
      const { apiKey } = await keys.issue(grant)
      Object.assign(env, { SVC_API_KEY_SECRET: 'second secret', SVC_API_KEY_SECRET_PREVIOUS: 'first secret' })
      expect(await keys.verify(apiKey)).toBeDefined()
      const { apiKey: newer } = await keys.issue(grant)
      delete env.SVC_API_KEY_SECRET_PREVIOUS
      expect(await keys.verify(apiKey)).toBeUndefined()
      expect(await keys.verify(newer)).toBeDefined()
    })

    it('are disabled without a secret', async () => {
      const { apiKey } = await keys.issue(grant)
      delete env.SVC_API_KEY_SECRET
      expect([keys.enabled(), await keys.verify(apiKey)]).toEqual([false, undefined])
      await expect(keys.issue(grant)).rejects.toMatchObject({ code: 'unavailable' })
    })

    it('are listed with the minute of their last use, for one user or all', async () => {
      const mine = await keys.issue({ ...grant, subject: 'ada' })
      const other = await keys.issue({ ...grant, subject: 'bob', days: 1 })
      const usedAtMs = nowMs
      await keys.verify(mine.apiKey)
      nowMs += 59_999
      await keys.verify(mine.apiKey)
      expect(await keys.list('ada')).toEqual([{ claims: mine.claims, lastUsedAtMs: usedAtMs, revokedAtMs: null }])
      nowMs += 1
      await keys.verify(mine.apiKey)
      expect((await keys.list('ada'))[0]?.lastUsedAtMs).toBe(nowMs)
      const all = await keys.list()
      expect(all.map(({ claims }) => claims.sub).toSorted()).toEqual(['ada', 'bob'])
      expect(all.find(({ claims }) => claims.jti === other.claims.jti)?.lastUsedAtMs).toBeNull()
    })

    it('are listed again when they are used after the store was lost, and can then be revoked', async () => {
      const { apiKey, claims } = await keys.issue(grant)
      await running.next()
      const again = openApiKeys({ env, store: await running.open(), clock, denied: openDeniedUsers({}, store) })
      expect(await again.list()).toEqual([])
      expect(await again.verify(apiKey)).toBeDefined()
      expect(await again.list()).toMatchObject([{ claims }])
      await again.revoke(claims.jti)
      expect(await again.verify(apiKey)).toBeUndefined()
    })

    it('are not issued beyond the maximum, which excludes expired ones', async () => {
      const exp = nowMs / 1000 + 86_400
      const full = Array.from({ length: 5_000 }, (_, index) => ({ id: String(index).padStart(16, 'x'), exp }))
      await store.update('api-keys', z.any(), () => ({ value: full }))
      await expect(keys.issue(grant)).rejects.toMatchObject({ code: 'conflict' })
      nowMs += dayMs
      expect(await keys.verify((await keys.issue(grant)).apiKey)).toBeDefined()
      expect(await keys.list()).toHaveLength(1)
    })

    it('stay revoked when a use is recorded concurrently', async () => {
      const { apiKey, claims } = await keys.issue(grant)
      await Promise.all([keys.revoke(claims.jti), ...Array.from({ length: 20 }, () => keys.verify(apiKey))])
      nowMs += 120_000
      expect(await keys.verify(apiKey)).toBeUndefined()
    })
  })
}

describeWith(['redis'], 'API keys while their store is unavailable', () => {
  it('are rejected with 503', async () => {
    await using scope = new AsyncDisposableStack()
    const server = scope.use(await startRedis({ private: true }))
    const store = scope.use(await openStore({ env: { REDIS_URL: server.url }, busIsShared: false }))
    const keys = openApiKeys({
      env: { SVC_API_KEY_SECRET: 'secret' },
      store,
      clock: systemClock,
      denied: openDeniedUsers({}, store),
    })
    const { apiKey } = await keys.issue(grant)
    await server.stop()
    await expect(keys.verify(apiKey)).rejects.toMatchObject({ code: 'unavailable' })
    expect(await keys.verify(`${apiKey}x`)).toBeUndefined()
  })
})

describe('the operator', () => {
  const keysOf = async (env: Record<string, string>) => {
    const [memory] = implementations
    const running = await memory?.start()
    if (running === undefined) throw new Error('there is no store in memory')
    const store = await running.open()
    return openApiKeys({ env, store, clock: createClock(() => 0), denied: openDeniedUsers({}, store) })
  }

  it.each([
    ['the secret', 'present', true],
    ['the secret before it, which only verifies', 'before', false],
    ['another', 'presen', false],
    ['a longer one', 'present ', false],
    ['nothing', '', false],
  ])('is recognized by %s: %s', async (_what, bearer, is) => {
    const keys = await keysOf({ SVC_API_KEY_SECRET: 'present', SVC_API_KEY_SECRET_PREVIOUS: 'before' })
    expect(keys.isOperator(bearer)).toBe(is)
  })

  it('is not recognized without a secret', async () => {
    const keys = await keysOf({})
    expect([keys.isOperator(''), keys.isOperator('undefined')]).toEqual([false, false])
  })
})
