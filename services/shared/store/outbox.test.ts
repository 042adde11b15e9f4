import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import { type StoreTestServer, implementations, pollUntil } from './implementations.suite.ts'
import type { ClaimedMessage, OutboxMessage, Store } from './store.ts'

const longMs = 60_000
const message = (id: string, payload: unknown = null): OutboxMessage => ({ id, topic: 'page', payload })
const append = (store: Store, key: string, ...outbox: OutboxMessage[]) =>
  store.update(key, z.number(), (count = 0) => ({ value: count + 1, outbox }))
const idsOf = (messages: readonly ClaimedMessage[]) => messages.map(({ id }) => id)
const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index).padStart(3, '0'))

for (const implementation of implementations) {
  describeWith(implementation.needs, `an outbox in ${implementation.name}`, () => {
    let running: StoreTestServer
    beforeAll(async () => {
      running = await implementation.start()
    })
    afterEach(() => running.next())
    afterAll(() => running[Symbol.asyncDispose]())

    it('delivers the messages of a step unchanged', async () => {
      const store = await running.open()
      await append(store, 'a', { id: '1', topic: 'page', payload: { text: 'disk "full" 😀', list: [1, null, true] } })
      const claimed = await store.outbox.claim(10, longMs)
      expect(claimed).toMatchObject([
        { id: '1', topic: 'page', payload: { text: 'disk "full" 😀', list: [1, null, true] }, attempt: 1 },
      ])
    })

    it('delivers the oldest first, across all keys', async () => {
      const store = await running.open()
      const ids = numbered(60)
      for (const id of ids.slice(0, 40)) await append(store, `key-${id}`, message(id))
      await append(store, 'many', ...ids.slice(40).map((id) => message(id)))
      const first = await store.outbox.claim(25, longMs)
      const rest = await store.outbox.claim(100, longMs)
      expect([...first, ...rest].map(({ id }) => id)).toEqual(ids)
      expect(first).toHaveLength(25)
    })

    it('reserves a claimed message until it is acknowledged or its claim expires', async () => {
      const [one, two] = [await running.open(), await running.open()]
      await append(one, 'a', message('1'), message('2'))
      expect(await one.outbox.claim(1, 1_000)).toMatchObject([{ id: '1', attempt: 1 }])
      const second = await two.outbox.claim(10, longMs)
      expect(second).toMatchObject([{ id: '2', attempt: 1 }])
      await two.outbox.ack(idsOf(second))
      const again = await pollUntil(
        () => two.outbox.claim(10, longMs),
        (claimed) => claimed.length > 0,
      )
      expect(again).toMatchObject([{ id: '1', attempt: 2 }])
      await two.outbox.ack(idsOf(again))
      await append(one, 'b', message('marker'))
      expect(await one.outbox.claim(10, longMs)).toMatchObject([{ id: 'marker' }])
    })

    it('returns a message with an expired claim to its position', async () => {
      const store = await running.open()
      await append(store, 'a', message('1'))
      await store.outbox.claim(1, 30)
      await append(store, 'a', message('2'))
      // Waits until the lease has expired. By the same clock, the shorter claim has then expired too.
      await store.lease('clock', 60)
      await pollUntil(() => store.lease('clock', longMs), Boolean)
      expect(await store.outbox.claim(1, longMs)).toMatchObject([{ id: '1', attempt: 2 }])
      expect(await store.outbox.claim(10, longMs)).toMatchObject([{ id: '2', attempt: 1 }])
    })

    it('keeps a claimed message for as long as its holder renews the claim, and releases it on request', async () => {
      const store = await running.open()
      await append(store, 'a', message('1'), message('2'), message('3'))
      expect(await store.outbox.claim(2, 1_000)).toHaveLength(2)
      await store.outbox.renew(['1', '2', '3', 'never there'], longMs)
      await store.outbox.renew(['2'], 30)
      await store.lease('clock', 1_100)
      await pollUntil(() => store.lease('clock', longMs), Boolean)
      expect(await store.outbox.claim(10, longMs)).toMatchObject([
        { id: '2', attempt: 2 },
        { id: '3', attempt: 1 },
      ])
    })

    it('reports which messages it contains', async () => {
      const store = await running.open()
      await append(store, 'a', message('1'), message('2'), message('3'))
      await store.outbox.claim(1, longMs)
      await store.outbox.ack(['2'])
      expect(await store.outbox.holds(['1', '2', '3', 'never there'])).toEqual(new Set(['1', '3']))
      expect(await store.outbox.holds([])).toEqual(new Set())
    })

    it('gives each message to one of many concurrent claimers', async () => {
      const stores = await Promise.all(Array.from({ length: 4 }, () => running.open()))
      const [first] = stores
      if (!first) throw new Error('no store')
      const ids = numbered(100)
      for (const id of ids) await append(first, `key-${id}`, message(id))
      const drain = async (store: Store) => {
        const mine: string[] = []
        // A claimer may get no messages although some remain, because others claim them first. The limit of rounds
        // prevents an endless loop.
        for (let round = 0; round < 200 && mine.length < 100; round += 1) {
          mine.push(...(await store.outbox.claim(7, longMs)).map(({ id }) => id))
        }
        return mine
      }
      const all = (await Promise.all(stores.map(drain))).flat()
      expect(all.toSorted()).toEqual(ids)
    })

    it('appends an id once while it is in the outbox, and again after it was acknowledged', async () => {
      const store = await running.open()
      await append(store, 'a', message('1', 'first'))
      await append(store, 'a', message('1', 'second'), message('2'))
      const claimed = await store.outbox.claim(10, longMs)
      expect(claimed).toMatchObject([{ id: '1', payload: 'first' }, { id: '2' }])
      await append(store, 'a', message('1', 'third'))
      expect(await store.outbox.claim(10, longMs)).toEqual([])
      await store.outbox.ack([...idsOf(claimed), 'never there'])
      await append(store, 'a', message('1', 'fourth'))
      expect(await store.outbox.claim(10, longMs)).toMatchObject([{ id: '1', payload: 'fourth', attempt: 1 }])
    })

    it('rejects a step completely when it is full', async () => {
      const store = await running.open({ outboxMessages: 3 })
      await append(store, 'a', message('1'), message('2'))
      await expect(append(store, 'a', message('3'), message('4'))).rejects.toMatchObject({ code: 'busy' })
      expect(await store.get('a', z.number())).toBe(1)
      await append(store, 'a', message('3'))
      expect(await store.outbox.claim(10, longMs)).toHaveLength(3)
    })

    it('delivers messages of this process to its own consumer, already claimed, and wakes no other', async () => {
      const [store, other] = [await running.open(), await running.open()]
      const taken: ClaimedMessage[] = []
      let hasRoom = true
      using taking = store.outbox.takeOwn({ claimMs: 300, hasRoom: () => hasRoom, take: (some) => taken.push(...some) })
      await append(store, 'a', message('1', { text: 'ä' }), message('2'))
      expect(taken).toMatchObject([
        { id: '1', topic: 'page', payload: { text: 'ä' }, attempt: 1 },
        { id: '2', payload: null },
      ])
      expect(await other.outbox.claim(10, longMs)).toEqual([])
      await store.outbox.ack(idsOf(taken.slice(0, 1)))
      // Unacknowledged messages go to other claimers when the claim ends.
      const left = await pollUntil(
        () => other.outbox.claim(10, longMs),
        (claimed) => claimed.length > 0,
      )
      expect(left).toMatchObject([{ id: '2', attempt: 2 }])
      hasRoom = false
      await append(store, 'a', message('3'))
      expect(await other.outbox.claim(10, longMs)).toMatchObject([{ id: '3', attempt: 1 }])
      hasRoom = true
      taking[Symbol.dispose]()
      await append(store, 'a', message('4'))
      expect(await other.outbox.claim(10, longMs)).toMatchObject([{ id: '4', attempt: 1 }])
      expect(taken).toHaveLength(2)
    })

    it('wakes its listeners at an append, without waiting for the poll', async () => {
      const store = await running.open()
      const writer = implementation.pushes ? await running.open() : store
      let wakes = 0
      using _listening = store.outbox.onAppend(() => {
        wakes += 1
      })
      // The subscription becomes active with a delay; then every append calls the listener.
      await pollUntil(
        async () => {
          await append(writer, 'a', message(String(wakes)))
          return wakes
        },
        (count) => count >= 1,
      )
      const [before, began] = [wakes, performance.now()]
      for (let round = 0; round < 5; round += 1) {
        const now = wakes
        await append(writer, 'a', message(`round-${round}`))
        await pollUntil(
          () => wakes,
          (count) => count > now,
        )
      }
      // Polling alone would call the listener only once a second.
      expect(performance.now() - began).toBeLessThan(3_900)
      expect(wakes - before).toBeGreaterThanOrEqual(5)
    })

    it('wakes its listeners regularly without an append, until they are disposed', async () => {
      const store = await running.open()
      let [left, stayed] = [0, 0]
      const leaving = store.outbox.onAppend(() => {
        left += 1
      })
      using _staying = store.outbox.onAppend(() => {
        stayed += 1
      })
      await pollUntil(
        () => left,
        (count) => count > 0,
      )
      leaving[Symbol.dispose]()
      const before = { left, stayed }
      await pollUntil(
        () => stayed,
        (count) => count > before.stayed,
      )
      expect(left).toBe(before.left)
    })
  })
}
