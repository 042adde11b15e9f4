import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import { type StoreTestServer, implementations, pollUntil } from './implementations.suite.ts'
import type { OutboxMessage, Store, AtomicUpdateStep } from './store.ts'

const longMs = 60_000
const message = (id: string): OutboxMessage => ({ id, topic: 'page', payload: null })
const sum = { key: 'sum', schema: z.number() }
const names = { keys: ['a', 'b'], schema: z.string() }
type Wanted = Partial<AtomicUpdateStep<number, string>>
/** Updates several keys together: adds one to the sum, appends a letter to each name, and applies `more`. */
const add = (store: Store, more: Wanted = {}) =>
  store.updateTogether({ one: sum, many: names }, (one = 0, many) => ({
    one: one + 1,
    many: new Map(names.keys.map((key) => [key, `${many.get(key) ?? ''}x`])),
    ...more,
  }))
const standing = async (store: Store) => [
  await store.get('sum', sum.schema),
  ...(await store.getAll(names.keys, names.schema)),
]

for (const implementation of implementations) {
  describeWith(implementation.needs, `several keys in ${implementation.name}`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('are written together, each on its current value', async () => {
      const [store, other] = await Promise.all([running.open(), running.open()])
      expect(await add(store)).toBe(true)
      await other.update('b', names.schema, () => ({ value: 'other' }))
      expect(await add(store)).toBe(true)
      expect(await add(other)).toBe(true)
      expect(await standing(store)).toEqual([3, 'xxx', 'otherxx'])
    })

    it('lose no write of many concurrent ones, in one process and in several', async () => {
      const stores = await Promise.all(Array.from({ length: 3 }, () => running.open()))
      await Promise.all(stores.flatMap((store) => Array.from({ length: 8 }, () => add(store))))
      expect(await standing(await running.open())).toEqual([24, 'x'.repeat(24), 'x'.repeat(24)])
    })

    it('stay unchanged if the step returns nothing, as do keys that it does not name', async () => {
      const store = await running.open()
      expect(await store.updateTogether({ one: sum, many: names }, () => undefined)).toBe(true)
      await add(store)
      await store.updateTogether({ one: sum, many: names }, () => ({ one: undefined, many: new Map([['b', 'y']]) }))
      expect(await standing(store)).toEqual([undefined, 'x', 'y'])
    })

    it('are read before a step that depends on a value that is not cached', async () => {
      const store = await running.open()
      // This value is too long to be cached.
      await store.update('a', names.schema, () => ({ value: 'x'.repeat(100_000) }))
      await store.updateTogether({ one: sum, many: names }, (_one, many) => ({ one: many.size, many: new Map() }))
      expect(await store.get('sum', sum.schema)).toBe(1)
    })

    it('append and acknowledge messages in the same write', async () => {
      const store = await running.open({ outboxMessages: 2 })
      await add(store, { outbox: [message('1'), message('2')] })
      // Acknowledged messages make room for appended ones.
      await add(store, { acks: ['1', 'never there'], outbox: [message('3')] })
      expect((await store.outbox.claim(10, longMs)).map(({ id }) => id)).toEqual(['2', '3'])
      await expect(add(store, { outbox: [message('4')] })).rejects.toMatchObject({ code: 'busy' })
      expect(await standing(store)).toEqual([2, 'xx', 'xx'])
      await add(store, { acks: ['2', '3'] })
      expect(await store.outbox.holds(['1', '2', '3', '4'])).toEqual(new Set())
    })

    it('are written only if the outbox contains the messages that the step needs', async () => {
      const store = await running.open()
      await add(store, { outbox: [message('1'), message('2')] })
      expect(await add(store, { needs: ['1', '2'], acks: ['1'] })).toBe(true)
      expect(await add(store, { needs: ['1', '2'], acks: ['2'], outbox: [message('3')] })).toBe(false)
      expect(await standing(store)).toEqual([2, 'xx', 'xx'])
      expect(await store.outbox.holds(['1', '2', '3'])).toEqual(new Set(['2']))
    })

    it('expire after the time that the step sets, except the first', async () => {
      const store = await running.open()
      await add(store, { expiresInMs: 60 })
      await pollUntil(
        () => standing(store),
        ([, a, b]) => a === undefined && b === undefined,
      )
      expect(await standing(store)).toEqual([1, undefined, undefined])
    })

    it('deliver appended messages to the consumer of their own process', async () => {
      const store = await running.open()
      const taken: string[] = []
      using _taking = store.outbox.takeOwn({
        claimMs: longMs,
        hasRoom: () => true,
        take: (some) => taken.push(...some.map(({ id }) => id)),
      })
      await add(store, { outbox: [message('1')] })
      expect(taken).toEqual(['1'])
      expect(await store.outbox.claim(10, longMs)).toEqual([])
    })
  })
}
