import { createClock } from '#shared/time/clock.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { openCounters } from '#shared/store/counters.ts'
import { type StoreTestServer, implementations } from '#shared/store/implementations.suite.ts'
import type { Store } from '#shared/store/store.ts'
import { describeWith } from '../../../testing/describe-with.ts'
import { type DeviceCodes, openDeviceCodes } from './codes.ts'

/** The stores that can hold device codes. The edge SQL binding is tested with a libSQL database. */
const kept = implementations.filter(({ name }) => ['memory', 'Redis', 'libSQL file'].includes(name))

for (const implementation of kept) {
  describeWith(implementation.needs, `device codes in ${implementation.name}`, () => {
    let running: StoreTestServer
    let nowMs: number
    let codes: DeviceCodes
    const clock = createClock(() => nowMs)
    const open = async (store: Store) => openDeviceCodes({ store, counters: await openCounters({}), clock })
    beforeAll(async () => {
      running = await implementation.start()
    })
    beforeEach(async () => {
      nowMs = Date.UTC(2026, 5, 1)
      codes = await open(await running.open())
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('grant the requested scopes to the approver, once', async () => {
      const { deviceCode, userCode } = await codes.issue('cli', ['read', 'agent'])
      expect(await codes.poll(deviceCode, 'cli')).toEqual({ error: 'authorization_pending' })
      expect(await codes.find(userCode)).toMatchObject({ clientId: 'cli', state: 'pending', scopes: ['read', 'agent'] })
      await codes.decide(userCode, { state: 'approved', subject: 'ada' })
      nowMs += 10_000
      const granted = { clientId: 'cli', subject: 'ada', scopes: ['read', 'agent'] }
      expect(await codes.poll(deviceCode, 'cli')).toEqual({ granted })
      expect(await codes.poll(deviceCode, 'cli')).toEqual({ error: 'invalid_grant' })
    })

    it('grant one of many concurrent exchanges, across processes', async () => {
      const { deviceCode, userCode } = await codes.issue('cli', ['read'])
      await codes.decide(userCode, { state: 'approved', subject: 'ada' })
      const others = await Promise.all(Array.from({ length: 3 }, async () => open(await running.open())))
      const polls = [codes, ...others].flatMap((each) => [
        each.poll(deviceCode, undefined),
        each.poll(deviceCode, undefined),
      ])
      const polled = await Promise.all(polls)
      expect(polled.filter((answer) => 'granted' in answer)).toHaveLength(1)
      expect(polled.filter((answer) => 'error' in answer && answer.error === 'invalid_grant')).toHaveLength(7)
    })

    it('accept one of two concurrent decisions', async () => {
      const { userCode } = await codes.issue('cli', ['read'])
      const decisions = await Promise.allSettled([
        codes.decide(userCode, { state: 'approved', subject: 'ada' }),
        codes.decide(userCode, { state: 'denied', subject: 'bob' }),
      ])
      expect(decisions.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    })

    it('report the denial to the device, and the expiry afterwards', async () => {
      const { deviceCode, userCode } = await codes.issue('cli', ['read'])
      await codes.decide(userCode, { state: 'denied', subject: 'ada' })
      expect(await codes.poll(deviceCode, undefined)).toEqual({ error: 'access_denied' })
      nowMs += 3_600_000
      expect(await codes.poll(deviceCode, undefined)).toEqual({ error: 'expired_token' })
    })

    it('are rejected for other clients and for guessed codes', async () => {
      const { deviceCode, userCode } = await codes.issue('cli', ['read'])
      await codes.decide(userCode, { state: 'approved', subject: 'ada' })
      expect(await codes.poll(deviceCode, 'other')).toEqual({ error: 'invalid_grant' })
      expect(await codes.poll(userCode, undefined)).toEqual({ error: 'invalid_grant' })
      expect(await codes.poll(`${deviceCode}x`, undefined)).toEqual({ error: 'invalid_grant' })
      expect(await codes.poll(deviceCode, 'cli')).toHaveProperty('granted')
      await expect(codes.find('BBBBBBBB')).rejects.toMatchObject({ code: 'not-found' })
    })

    it('are limited per minute for all addresses together', async () => {
      const counted = { count: 601, endsInMs: 30_000 }
      const counters = { count: async () => counted, [Symbol.asyncDispose]: async () => {} }
      const crowded = openDeviceCodes({ store: await running.open(), counters, clock })
      await expect(crowded.issue('cli', ['read'])).rejects.toMatchObject({ code: 'busy', retryAfterMs: 30_000 })
    })
  })
}
