import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createQueue } from './create-queue.ts'
import type { Attached, QueueDriver, Taken } from './driver.ts'
import { type QueueLimits, defaultQueueLimits } from './limits.ts'
import { type MemoryConsumer, MemoryStream } from './memory-stream.ts'
import type { Queue } from './queue.ts'
import { type AnyStream, streams } from './streams.ts'

/** Bytes that one stream may hold in memory, where it would hold more on disk. */
const maxMemoryBytes = 64 * 1024 * 1024

/** Opens queues that share their streams as long as the process lives; a restart forgets them. */
export const openMemoryQueues = (
  chosen: Partial<QueueLimits> = {},
): ((log?: Logger, metrics?: Registry) => Promise<Queue>) => {
  const limits = { ...defaultQueueLimits, ...chosen }
  const open = (name: AnyStream) =>
    new MemoryStream({
      ...streams[name],
      name,
      maxBytes: Math.min(limits.maxBytes[name], maxMemoryBytes),
      duplicateWindowMs: limits.duplicateWindowMs[name],
    })
  const kept: Streams = { EVENTS: open('EVENTS'), DELIVER: open('DELIVER'), DLQ: open('DLQ') }
  return async (log, metrics) => createQueue({ driver: memoryDriver(kept), limits, log, metrics })
}

type Streams = Readonly<Record<AnyStream, MemoryStream>>

const memoryDriver = (kept: Streams): QueueDriver => ({
  connected: true,
  store: async (name, message) => ({ duplicate: !kept[name].add(message) }),
  attach: async (consumer) => void kept[consumer.stream].consumer(consumer),
  take: (consumer, max, signal) => take(kept[consumer.stream], consumer, max, signal),
  lag: async (consumer) => kept[consumer.stream].consumer(consumer).open.size,
  lastDead: async () => kept.DLQ.last,
  dead: async (sequence) => kept.DLQ.get(sequence)?.body,
  removeDead: async (sequence) => kept.DLQ.remove(sequence),
  [Symbol.asyncDispose]: async () => {},
})

async function* take(
  stream: MemoryStream,
  attached: Attached,
  max: number,
  signal: AbortSignal,
): AsyncGenerator<Taken> {
  const consumer = stream.consumer(attached)
  for (let handed = 0; handed < max && !signal.aborted; handed += 1) {
    const taken = await next(stream, consumer, signal)
    if (taken === undefined) return
    const { sequence, message, deliveries } = taken
    yield {
      ...message,
      deliveries,
      ageMs: performance.now() - message.atMs,
      done: async () => stream.done(consumer, sequence),
      again: (inMs) => void setTimeout(() => stream.again(consumer, sequence), inMs).unref(),
      working: () => {},
    }
  }
}

/** The next message that is still kept; waits for one, and gives up with the signal. */
const next = async (stream: MemoryStream, consumer: MemoryConsumer, signal: AbortSignal) => {
  while (!signal.aborted) {
    const sequence = consumer.ready.shift()
    if (sequence === undefined) {
      await becomesReady(consumer, signal)
      continue
    }
    const message = stream.get(sequence)
    if (!message) {
      consumer.open.delete(sequence)
      continue
    }
    const deliveries = (consumer.open.get(sequence) ?? 0) + 1
    consumer.open.set(sequence, deliveries)
    return { sequence, message, deliveries }
  }
  return undefined
}

const becomesReady = async (consumer: MemoryConsumer, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ready = () => resolve()
  consumer.wakes.add(ready)
  signal.addEventListener('abort', ready, { once: true })
  await promise
  consumer.wakes.delete(ready)
  signal.removeEventListener('abort', ready)
}
