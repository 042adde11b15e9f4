import { afterEach, beforeEach, expect, it } from 'vitest'
import { InboundEvent } from '#proto/inbound-event.ts'
import { waitUntil } from '#shared/bus/conformance/implementations.suite.ts'
import { openMemoryQueues } from '#shared/bus/durable/memory-queue.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { createDeadEventHandlers } from './dead-events.ts'
import { testServiceCall } from './testing/service-call.ts'
import { createEvent } from './testing/event.ts'

let queue: Queue
const received: string[] = []
beforeEach(async () => {
  received.length = 0
  queue = await openMemoryQueues()()
  const consumer = { stream: 'EVENTS', name: 'taker', subjects: 'inbound.>', body: InboundEvent } as const
  await queue.consume(consumer, async ({ body, deliveries }) => {
    received.push(`${body.id} ${deliveries}`)
    return received.length === 1 ? { dead: 'could not be dealt with' } : 'done'
  })
})
afterEach(() => queue[Symbol.asyncDispose]())

const letters = async () => (await createDeadEventHandlers(queue).deadEvents({ limit: 10 }, testServiceCall)).letters
const replay = async (id = '') => createDeadEventHandlers(queue).replayDeadEvent({ id }, testServiceCall)

it('lists a dead event and resends it once', async () => {
  await queue.publish('inbound.generic', { id: 'e1', body: createEvent({ id: 'e1', title: 'Disk full' }) })
  await waitUntil(async () => (await letters()).length === 1)
  const [letter] = await letters()
  expect(letter).toMatchObject({ event: 'e1', title: 'Disk full', reason: 'could not be dealt with' })
  expect(await replay(letter?.id)).toEqual(letter)
  await waitUntil(() => received.length === 2)
  await expect(replay(letter?.id)).rejects.toMatchObject({ code: 'not-found' })
  expect([received, await letters()]).toEqual([['e1 1', 'e1 1'], []])
})

it('lists an unreadable event and rejects resending it', async () => {
  await queue.publish('inbound.generic', { id: 'odd', body: { title: 7 } })
  await waitUntil(async () => (await letters()).length === 1)
  const [letter] = await letters()
  expect(letter).toMatchObject({ event: null, title: null, reason: 'its body does not match the schema' })
  await expect(replay(letter?.id)).rejects.toMatchObject({ code: 'conflict' })
  expect(await letters()).toHaveLength(1)
})
