import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import { type StoreTestServer, implementations, pollUntil } from './implementations.suite.ts'
import type { UpdateStep, Store } from './store.ts'

const Counter = z.object({ count: z.number().int(), note: z.string().default('none') })
const increment = (current: { count: number } | undefined) => ({ value: { count: (current?.count ?? 0) + 1 } })

for (const implementation of implementations) {
  describeWith(implementation.needs, `a store in ${implementation.name}`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('returns undefined for an unknown key', async () => {
      const store = await running.open()
      expect(await store.get('absent', Counter)).toBeUndefined()
      expect(store.connected).toBe(true)
    })

    it('returns the written value as its schema parses it', async () => {
      const store = await running.open()
      const written = await store.update('a', Counter, () => ({ value: { count: 1 } }))
      expect(written).toEqual({ count: 1, note: 'none' })
      expect(await store.get('a', Counter)).toEqual({ count: 1, note: 'none' })
    })

    it('loses no update of 50 concurrent writers and repeats their steps', async () => {
      const stores = await Promise.all(Array.from({ length: 5 }, () => running.open()))
      let steps = 0
      const write = (store: Store) =>
        store.update('a', Counter, (current) => {
          steps += 1
          return increment(current)
        })
      const results = await Promise.all(stores.flatMap((store) => Array.from({ length: 10 }, () => write(store))))
      const seen = results.map((result) => result?.count ?? 0).toSorted((a, b) => a - b)
      expect(seen).toEqual(Array.from({ length: 50 }, (_, index) => index + 1))
      expect(steps).toBeGreaterThan(50)
    })

    it('changes nothing if a step returns nothing', async () => {
      const store = await running.open()
      expect(await store.update('a', Counter, () => undefined)).toBeUndefined()
      await store.update('a', Counter, () => ({ value: { count: 7 }, expiresInMs: 200 }))
      expect(await store.update('a', Counter, () => undefined)).toMatchObject({ count: 7 })
      await pollUntil(
        () => store.get('a', Counter),
        (value) => value === undefined,
      )
    })

    it('applies the step to the current value of a key that was expected to be new', async () => {
      const [store, other] = await Promise.all([running.open(), running.open()])
      expect(await store.updateNew('a', Counter, increment)).toEqual({ count: 1, note: 'none' })
      expect(await other.updateNew('a', Counter, increment)).toEqual({ count: 2, note: 'none' })
      expect(await store.updateNew('a', Counter, increment)).toEqual({ count: 3, note: 'none' })
    })

    it('returns several values in order', async () => {
      const store = await running.open()
      await store.update('a', Counter, () => ({ value: { count: 1 } }))
      await store.update('b', Counter, () => ({ value: { count: 2 } }))
      const all = await store.getAll(['b', 'absent', 'a'], Counter)
      expect(all.map((value) => value?.count)).toEqual([2, undefined, 1])
      expect(await store.getAll([], Counter)).toEqual([])
    })

    it('removes a key whose step returns no value, and writes it again', async () => {
      const store = await running.open()
      await store.update('a', Counter, increment)
      expect(await store.update('a', Counter, () => ({ value: undefined }))).toBeUndefined()
      expect(await store.get('a', Counter)).toBeUndefined()
      expect(await store.update('a', Counter, () => ({ value: undefined }))).toBeUndefined()
      expect(await store.update('a', Counter, increment)).toMatchObject({ count: 1 })
    })

    it('does not remove a value that another process wrote after it was read', async () => {
      const [store, other] = await Promise.all([running.open(), running.open()])
      await store.update('a', Counter, increment)
      await other.update('a', Counter, increment)
      const removeFirst = (current: { count: number } | undefined) =>
        current?.count === 1 ? { value: undefined } : undefined
      expect(await store.update('a', Counter, removeFirst)).toMatchObject({ count: 2 })
      expect(await other.get('a', Counter)).toMatchObject({ count: 2 })
    })

    it('drops an expired value and lets it be written again', async () => {
      const store = await running.open()
      await store.update('a', Counter, () => ({ value: { count: 7 }, expiresInMs: 60 }))
      await pollUntil(
        () => store.get('a', Counter),
        (value) => value === undefined,
      )
      expect(await store.update('a', Counter, increment)).toMatchObject({ count: 1 })
    })

    it('keeps a value whose last step set no expiry', async () => {
      const store = await running.open()
      await store.update('a', Counter, () => ({ value: { count: 1 }, expiresInMs: 60 }))
      await store.update('a', Counter, () => ({ value: { count: 2 } }))
      await store.update('later', Counter, () => ({ value: { count: 1 }, expiresInMs: 120 }))
      await pollUntil(
        () => store.get('later', Counter),
        (value) => value === undefined,
      )
      expect(await store.get('a', Counter)).toMatchObject({ count: 2 })
    })

    it('rejects a value that its schema cannot parse, and reports where a stored value is invalid', async () => {
      const store = await running.open()
      await store.update('a', Counter, increment)
      await expect(store.update('a', Counter, () => ({ value: { count: 1.5 } }))).rejects.toThrow(/count/)
      expect(await store.get('a', Counter)).toMatchObject({ count: 1 })
      await expect(store.get('a', z.object({ count: z.string() }))).rejects.toThrow(
        'the value of "a" does not match its schema: count',
      )
    })

    it('rejects a value or a message that is too large, and an invalid name or duration', async () => {
      const store = await running.open({ valueBytes: 100 })
      const note = 'x'.repeat(100)
      const write = (step: UpdateStep<z.input<typeof Counter>>, key = 'a') => store.update(key, Counter, () => step)
      const outbox = [{ id: '1', topic: 'page', payload: note }]
      await expect(write({ value: { count: 1, note } })).rejects.toMatchObject({ code: 'too-large' })
      await expect(write({ value: { count: 1 }, outbox })).rejects.toMatchObject({ code: 'too-large' })
      await expect(write({ value: { count: 1 }, expiresInMs: 0 })).rejects.toMatchObject({ code: 'invalid' })
      await expect(write({ value: { count: 1 } }, 'a\u0000')).rejects.toMatchObject({ code: 'invalid' })
      await expect(store.lease('', 100)).rejects.toMatchObject({ code: 'invalid' })
      expect(await store.get('a', Counter)).toBeUndefined()
    })

    it('supports keys and texts with any characters', async () => {
      const store = await running.open()
      const keys = ["o'clock", 'a:b', 'ä€😀', 'a b', '{1}', 'A', 'a']
      for (const key of keys) await store.update(key, z.string(), () => ({ value: `${key}\n"'` }))
      expect(await Promise.all(keys.map((key) => store.get(key, z.string())))).toEqual(keys.map((key) => `${key}\n"'`))
    })
  })
}
