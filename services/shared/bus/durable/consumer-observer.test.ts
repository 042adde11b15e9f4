import { Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { retryUntil } from '../../../testing/fetch-json.ts'
import { openMemoryQueues } from './memory-queue.ts'

it('reports how many messages wait for a consumer, and how long they waited', async () => {
  const registry = new Registry()
  await using queue = await openMemoryQueues()(undefined, registry)
  const metric = async (line: RegExp) => Number(line.exec(await registry.metrics())?.[1])
  for (const id of ['a', 'b', 'c']) await queue.publish('inbound.email.x', { id, body: {} })
  const go = Promise.withResolvers<void>()
  const consumer = { stream: 'EVENTS', name: 'email', subjects: 'inbound.email.>', body: z.object({}) } as const
  await queue.consume(consumer, async () => {
    await go.promise
    return 'done'
  })
  const waiting = () => metric(/^watchhouse_queue_messages\{consumer="email"\} (\d+)/m)
  expect(await retryUntil(waiting, (count) => count === 3)).toBe(3)
  const counted = () => metric(/^watchhouse_queue_wait_seconds_count\{consumer="email"\} (\d+)/m)
  expect(await retryUntil(counted, (count) => count === 3)).toBe(3)
  go.resolve()
})
