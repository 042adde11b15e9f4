import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import { type StoreTestServer, implementations, pollUntil } from './implementations.suite.ts'
import type { Lease, Store } from './store.ts'

const longMs = 60_000
/** Uses many keys, because a write of any key must be fenced. */
const keys = Array.from({ length: 64 }, (_, index) => `condition-${index}`)
const set = (store: Store, key: string, value: string, lease: Lease) =>
  store.update(key, z.string(), () => ({ value }), lease.fence)
const taken = (lease: Lease | undefined): Lease => {
  if (!lease) throw new Error('the lease was not granted')
  return lease
}

for (const implementation of implementations) {
  describeWith(implementation.needs, `a lease in ${implementation.name}`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('is granted to one of many concurrent callers', async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => running.open()))
      const leases = await Promise.all(
        stores.flatMap((store) => Array.from({ length: 5 }, () => store.lease('sweep', longMs))),
      )
      expect(leases.filter(Boolean)).toHaveLength(1)
    })

    it('is free after its release, with a larger token', async () => {
      const store = await running.open()
      const first = taken(await store.lease('sweep', longMs))
      expect(await store.lease('sweep', longMs)).toBeUndefined()
      expect(await store.lease('report', longMs)).toBeDefined()
      await first[Symbol.asyncDispose]()
      const second = taken(await store.lease('sweep', longMs))
      expect(second.fence.token).toBeGreaterThan(first.fence.token)
    })

    it('is kept by renewals, and lost without them', async () => {
      const store = await running.open()
      const first = taken(await store.lease('sweep', 2_000))
      expect(await first.renew(longMs)).toBe(true)
      expect(await first.renew(80)).toBe(true)
      const second = taken(await pollUntil(() => store.lease('sweep', longMs), Boolean))
      expect(second.fence.token).toBeGreaterThan(first.fence.token)
      expect(await first.renew(longMs)).toBe(false)
      await first[Symbol.asyncDispose]()
      expect(await second.renew(longMs)).toBe(true)
    })

    it('is not renewed after it was lost, even if it is free', async () => {
      const store = await running.open()
      const lost = taken(await store.lease('sweep', 30))
      // Waits until `clock` has expired. By the same clock, the shorter lease `sweep` has then expired too.
      await store.lease('clock', 60)
      await pollUntil(() => store.lease('clock', longMs), Boolean)
      expect(await lost.renew(longMs)).toBe(false)
      expect(await store.lease('sweep', longMs)).toBeDefined()
    })

    it('rejects the writes of a replaced holder, for any key', { tags: ['long'] }, async () => {
      const [one, two] = [await running.open(), await running.open()]
      const stale = taken(await one.lease('sweep', 50))
      await set(one, 'condition-0', 'by the first', stale)
      const current = taken(await pollUntil(() => two.lease('sweep', longMs), Boolean))
      for (const key of keys) {
        await expect(set(one, key, 'too late', stale)).rejects.toMatchObject({ code: 'conflict' })
      }
      expect(await one.get('condition-0', z.string())).toBe('by the first')
      for (const key of keys) await set(two, key, 'by the second', current)
      expect(await one.get('condition-63', z.string())).toBe('by the second')
    })

    it('appends no message of a rejected write', async () => {
      const store = await running.open()
      const stale = taken(await store.lease('sweep', longMs))
      await stale[Symbol.asyncDispose]()
      taken(await store.lease('sweep', longMs))
      const write = store.update(
        'a',
        z.string(),
        () => ({ value: 'x', outbox: [{ id: '1', topic: 'page', payload: 1 }] }),
        stale.fence,
      )
      await expect(write).rejects.toMatchObject({ code: 'conflict' })
      expect(await store.outbox.claim(10, longMs)).toEqual([])
      expect(await store.get('a', z.string())).toBeUndefined()
    })
  })
}
