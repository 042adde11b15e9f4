import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { pino } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { describeWith } from '../../../testing/describe-with.ts'
import { waitUntil } from '../conformance/implementations.suite.ts'
import { type QueueTestServer, queueImplementations } from './implementations.suite.ts'
import type { MessageHandler, Queue } from './queue.ts'

const Body = z.object({ text: z.string() })
const channel = { stream: 'EVENTS', name: 'webhook', subjects: 'inbound.webhook.>', body: Body } as const
const subject = 'inbound.webhook.default'

for (const implementation of queueImplementations) {
  describeWith(implementation.needs, `a queue on ${implementation.name}`, () => {
    let place: QueueTestServer
    let queue: Queue
    beforeAll(async () => {
      place = await implementation.start()
    })
    beforeEach(async () => {
      await place.next()
      queue = await place.open()
    })
    afterEach(() => queue[Symbol.asyncDispose]())
    afterAll(() => place[Symbol.asyncDispose]())

    const publish = (id: string, text = id) => queue.publish(subject, { id, body: { text } })
    /** Consumes with a handler that records its messages. */
    const consume = async (handle: MessageHandler<z.infer<typeof Body>> = async () => 'done', options: object = {}) => {
      const seen: string[] = []
      await queue.consume({ ...channel, ...options }, async (message) => {
        seen.push(message.body.text)
        return handle(message)
      })
      return seen
    }

    it('delivers messages published before and after a consumer starts, in order and once', async () => {
      await publish('one')
      const seen = await consume()
      await waitUntil(() => seen.length === 1)
      await publish('two')
      await publish('three')
      await waitUntil(() => seen.length === 3)
      await publish('four')
      await waitUntil(() => seen.length === 4)
      expect(seen).toEqual(['one', 'two', 'three', 'four'])
    })

    it('does not redeliver handled messages, although acknowledgements are not confirmed', async () => {
      const seen = await consume(async () => 'done', { mayRepeat: true })
      for (const id of ['one', 'two', 'three']) await publish(id)
      await waitUntil(() => seen.length === 3)
      await queue[Symbol.asyncDispose]()
      queue = await place.open()
      await publish('marker')
      const after = await consume(async () => 'done', { mayRepeat: true })
      await waitUntil(() => after.length > 0)
      expect(after).toEqual(['marker'])
    })

    it('stores an id once within the duplicate window, even after it was handled', async () => {
      const seen = await consume()
      expect(await publish('one')).toEqual({ duplicate: false })
      await waitUntil(() => seen.length === 1)
      expect(await publish('one', 'again')).toEqual({ duplicate: true })
      await publish('marker')
      await waitUntil(() => seen.includes('marker'))
      expect(seen).toEqual(['one', 'marker'])
    })

    it('stores an id again after the duplicate window', async () => {
      await queue[Symbol.asyncDispose]()
      await place.next({ duplicateWindowMs: { EVENTS: 100, EVENTS_DLQ: 100 } })
      queue = await place.open()
      await publish('one')
      await waitUntil(async () => !(await publish('one', 'again')).duplicate)
      const seen = await consume()
      await waitUntil(() => seen.length === 2)
      expect(seen).toEqual(['one', 'again'])
    })

    it('redelivers a message after its delay, behind others that arrived meanwhile', async () => {
      const deliveries: number[] = []
      const seen = await consume(async (message) => {
        deliveries.push(message.deliveries)
        return message.body.text === 'late' && message.deliveries === 1 ? { againInMs: 300 } : 'done'
      })
      await publish('late')
      await waitUntil(() => seen.length === 1)
      await publish('other')
      await waitUntil(() => seen.length === 3)
      expect(seen).toEqual(['late', 'other', 'late'])
      expect(deliveries).toEqual([1, 1, 2])
    })

    it('logs once that a dependency of its handlers is unavailable, and once that it is back', async () => {
      await queue[Symbol.asyncDispose]()
      const lines: string[] = []
      queue = await place.open(pino({}, { write: (line) => void lines.push(JSON.parse(line).msg) }))
      let isAway = true
      const seen = await consume(
        async () => {
          if (isAway) throw new ServiceError('unavailable', 'the state store does not answer')
          return 'done'
        },
        { tries: 1_000 },
      )
      for (const id of ['one', 'two', 'three']) await publish(id)
      await waitUntil(() => seen.length > 6)
      isAway = false
      await waitUntil(() => lines.includes('handling messages recovered'))
      expect(lines).toEqual(['handling messages failed', 'handling messages recovered'])
    })

    it('dead-letters a message whose handler always fails, and blocks no other message meanwhile', async () => {
      const seen = await consume(
        async ({ body }) => {
          if (body.text === 'poison') throw new Error('cannot')
          return 'done'
        },
        { tries: 3, maxInFlight: 1 },
      )
      await publish('poison')
      await publish('sound')
      await waitUntil(async () => (await queue.dead.EVENTS.list({ limit: 10 })).letters.length === 1)
      expect(seen.toSorted()).toEqual(['poison', 'poison', 'poison', 'sound'])
      const [letter] = (await queue.dead.EVENTS.list({ limit: 10 })).letters
      expect(letter).toMatchObject({
        subject,
        messageId: 'poison',
        body: { text: 'poison' },
        reason: 'delivered 3 times without an acknowledgement',
      })
    })

    it('dead-letters an invalid message without calling the handler', async () => {
      const seen = await consume()
      await queue.publish(subject, { id: 'odd', body: { text: 7 } })
      await publish('sound')
      await waitUntil(async () => (await queue.dead.EVENTS.list({ limit: 10 })).letters.length === 1)
      await waitUntil(() => seen.length === 1)
      expect(seen).toEqual(['sound'])
    })

    it('lists dead letters with their reason, newest first, in pages, until they are removed', async () => {
      await consume(async ({ body }) => ({ dead: `because of ${body.text}` }))
      const dead = () => queue.dead.EVENTS.list({ limit: 10 })
      for (const [index, text] of ['one', 'two', 'three'].entries()) {
        await publish(text)
        await waitUntil(async () => (await dead()).letters.length === index + 1)
      }
      const first = await queue.dead.EVENTS.list({ limit: 2 })
      expect(first.letters.map(({ reason }) => reason)).toEqual(['because of three', 'because of two'])
      const rest = await queue.dead.EVENTS.list({ limit: 2, before: first.next ?? undefined })
      expect(rest).toMatchObject({ letters: [{ reason: 'because of one' }], next: null })
      const [two] = first.letters.slice(1)
      expect(await queue.dead.EVENTS.get(two?.id ?? '')).toEqual(two)
      expect(await queue.dead.EVENTS.remove(two?.id ?? '')).toBe(true)
      expect(await queue.dead.EVENTS.remove(two?.id ?? '')).toBe(false)
      expect(await queue.dead.EVENTS.get(two?.id ?? '')).toBeUndefined()
      expect((await dead()).letters.map(({ messageId }) => messageId)).toEqual(['three', 'one'])
    })

    it('finds a dead letter only by its id', async () => {
      await expect(queue.dead.EVENTS.get('../x')).rejects.toMatchObject({ code: 'invalid' })
    })

    it('shares messages among consumers of one name', async () => {
      await using other = await place.open()
      const seen = await consume()
      const elsewhere: string[] = []
      await other.consume(channel, async ({ body }) => {
        elsewhere.push(body.text)
        return 'done'
      })
      const ids = Array.from({ length: 50 }, (_, index) => String(index))
      for (const id of ids) await publish(id)
      await waitUntil(() => seen.length + elsewhere.length === 50)
      expect([...seen, ...elsewhere].toSorted()).toEqual(ids.toSorted())
    })

    it('delivers to each consumer the messages of its subjects', async () => {
      const seen = await consume()
      const paging: string[] = []
      await queue.consume({ ...channel, name: 'paging', subjects: 'inbound.paging.>' }, async ({ body }) => {
        paging.push(body.text)
        return 'done'
      })
      await queue.publish('inbound.paging.default', { id: 'p', body: { text: 'page' } })
      await publish('post')
      await waitUntil(() => seen.length + paging.length === 2)
      expect([seen, paging]).toEqual([['post'], ['page']])
    })

    it('delivers every event to consumers of different names', async () => {
      const received: string[] = []
      for (const name of ['alerts', 'keeper']) {
        await queue.consume({ stream: 'EVENTS', name, subjects: 'inbound.>', body: Body }, async ({ body }) => {
          received.push(`${name} ${body.text}`)
          return 'done'
        })
      }
      await queue.publish('inbound.grafana', { id: 'e', body: { text: 'disk' } })
      await waitUntil(() => received.length === 2)
      expect(received.toSorted()).toEqual(['alerts disk', 'keeper disk'])
    })

    it('does not redeliver a message whose handler runs longer than the acknowledgement timeout', async () => {
      await using other = await place.open()
      const { promise, resolve } = Promise.withResolvers<void>()
      const seen = await consume(async ({ body }) => {
        if (body.text === 'long') await promise
        return 'done'
      })
      await other.consume(channel, async ({ body }) => {
        if (body.text === 'long') await promise
        seen.push(body.text)
        return 'done'
      })
      await publish('long')
      const began = performance.now()
      await waitUntil(() => performance.now() - began > 2_000)
      expect(seen.length).toBeLessThanOrEqual(1)
      resolve()
      await waitUntil(() => seen.length === 1)
      expect(seen).toEqual(['long'])
    })

    it('handles at most the maximum number of messages at once', async () => {
      let inHand = 0
      let most = 0
      const seen = await consume(
        async () => {
          inHand += 1
          most = Math.max(most, inHand)
          await new Promise((resolve) => setImmediate(resolve))
          inHand -= 1
          return 'done'
        },
        { maxInFlight: 3 },
      )
      for (let count = 0; count < 30; count += 1) await publish(String(count))
      await waitUntil(() => seen.length === 30)
      expect(most).toBeLessThanOrEqual(3)
    })

    it('finishes the messages in flight before it ends, and leaves the rest to the next consumer', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const seen: string[] = []
      const consuming = await queue.consume({ ...channel, maxInFlight: 1 }, async ({ body }) => {
        seen.push(body.text)
        await promise
        return 'done'
      })
      await publish('one')
      await publish('two')
      await waitUntil(() => seen.length === 1)
      const ending = consuming[Symbol.asyncDispose]()
      resolve()
      await ending
      expect(seen).toEqual(['one'])
      const rest = await consume()
      await waitUntil(() => rest.length === 1)
      expect(rest).toEqual(['two'])
    })

    it('rejects a message when the stream is full, and keeps the stored ones', async () => {
      await queue[Symbol.asyncDispose]()
      const maxBytes = { EVENTS: 20_000, EVENTS_DLQ: 1_000_000 }
      await place.next({ maxBytes })
      queue = await place.open()
      let kept = 0
      const fill = async () => {
        for (; kept < 10; kept += 1) await publish(String(kept), 'x'.repeat(4_000))
      }
      await expect(fill()).rejects.toMatchObject({ code: 'busy' })
      expect(kept).toBeGreaterThanOrEqual(3)
      const seen = await consume()
      await waitUntil(() => seen.length === kept)
      await waitUntil(() =>
        publish('later').then(
          () => true,
          () => false,
        ),
      )
    })

    it('rejects a message that is too large', async () => {
      await expect(publish('large', 'x'.repeat(1_000_000))).rejects.toMatchObject({ code: 'too-large' })
    })
  })
}
