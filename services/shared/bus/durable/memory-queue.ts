import type { Logger } from 'pino'
import type { Registry } from 'prom-client'
import { createQueue } from './create-queue.ts'
import type { ResolvedConsumer, QueueDriver, ClaimedMessage } from './driver.ts'
import type { Journal } from './journal.ts'
import { type QueueLimits, defaultQueueLimits } from './limits.ts'
import type { MemoryConsumer, MemoryStream } from './memory-stream.ts'
import {
  type StoreMessage,
  type MemoryStreams,
  openMemoryStreams,
  toStreamEntry,
  storeInMemory,
  storeWithJournal,
} from './memory-streams.ts'
import type { Queue } from './queue.ts'
import { findStreamName } from './streams.ts'

/** A function that opens a queue; all queues that it opens share their streams. */
export type OpenMemoryQueue = (log?: Logger, metrics?: Registry) => Promise<Queue>

/** Returns a function that opens queues in memory. A restart loses their messages. */
export const openMemoryQueues = (chosen: Partial<QueueLimits> = {}): OpenMemoryQueue => {
  const limits = { ...defaultQueueLimits, ...chosen }
  const kept = openMemoryStreams(limits)
  return createQueueOpener({ kept, store: storeInMemory(kept), limits })
}

interface JournaledQueuesOptions {
  journal: Journal
  log?: Logger | undefined
  limits?: Partial<QueueLimits>
}

/**
 * Returns a function that opens queues in memory with a journal, after restoring the messages of the previous process.
 */
export const openJournaledQueues = async ({
  journal,
  log,
  limits: chosen,
}: JournaledQueuesOptions): Promise<OpenMemoryQueue> => {
  const limits = { ...defaultQueueLimits, ...chosen }
  const kept = openMemoryStreams(limits, (message) => void journal.forget(message.key))
  const left = await journal.load()
  // The stream is derived from the subject, because an earlier release stored all dead letters in one stream.
  for (const message of left) kept[findStreamName(message.subject)].restore(toStreamEntry(message))
  if (left.length > 0) log?.info({ messages: left.length }, 'restored queued messages of the previous process')
  return createQueueOpener({ kept, store: storeWithJournal(kept, journal, log), limits })
}

interface MemoryQueueParts {
  kept: MemoryStreams
  store: StoreMessage
  limits: QueueLimits
}

const createQueueOpener =
  ({ kept, store, limits }: MemoryQueueParts): OpenMemoryQueue =>
  async (log, metrics) =>
    createQueue({ driver: createMemoryDriver(kept, store), limits, log, metrics })

const createMemoryDriver = (kept: MemoryStreams, store: StoreMessage): QueueDriver => ({
  connected: true,
  store,
  attach: async (consumer) => void kept[consumer.stream].consumer(consumer),
  take: (consumer, max, signal) => take(kept[consumer.stream], consumer, max, signal),
  backlog: async (consumer) => kept[consumer.stream].consumer(consumer).open.size,
  lastDead: async (stream) => kept[stream].last,
  dead: async (stream, sequence) => kept[stream].get(sequence)?.body,
  removeDead: async (stream, sequence) => kept[stream].remove(sequence),
  [Symbol.asyncDispose]: async () => {},
})

async function* take(
  stream: MemoryStream,
  attached: ResolvedConsumer,
  max: number,
  signal: AbortSignal,
): AsyncGenerator<ClaimedMessage> {
  const consumer = stream.consumer(attached)
  for (let handed = 0; handed < max && !signal.aborted; handed += 1) {
    const taken = await takeNext(stream, consumer, signal)
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

/** Returns the next message and skips removed ones; undefined when the signal aborts. */
const takeNext = async (stream: MemoryStream, consumer: MemoryConsumer, signal: AbortSignal) => {
  while (!signal.aborted) {
    const sequence = consumer.ready.shift()
    if (sequence === undefined) {
      await waitUntilReady(consumer, signal)
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

const waitUntilReady = async (consumer: MemoryConsumer, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const ready = () => resolve()
  consumer.wakes.add(ready)
  signal.addEventListener('abort', ready, { once: true })
  await promise
  consumer.wakes.delete(ready)
  signal.removeEventListener('abort', ready)
}
