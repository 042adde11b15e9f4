import { randomUUID } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import { createSubjectMatcher } from '../subject.ts'
import type { ResolvedConsumer, StoredMessage } from './driver.ts'
import { type AnyStreamName, type StreamConfig, streamConfigs } from './streams.ts'

/** The configuration of a stream in memory. */
export type MemoryStreamConfig = Pick<StreamConfig, 'maxAgeMs' | 'maxBytes' | 'whenFull' | 'duplicateWindowMs'> & {
  name: AnyStreamName
  /** Called for each removed message. */
  ended?(message: StreamEntry): void
}

/** The state of one consumer: its unhandled messages. */
export interface MemoryConsumer {
  readonly name: string
  /** Sequence numbers of messages to deliver, oldest first. */
  readonly ready: number[]
  /** Number of deliveries of each unhandled message. */
  readonly open: Map<number, number>
  /** Callbacks that run when a message becomes ready. */
  readonly wakes: Set<() => void>
}

/** A stored message with its sequence number and its time of arrival on the monotonic clock. */
export interface StreamEntry extends StoredMessage {
  key: string
  sequence: number
  atMs: number
  /**
   * Names of the consumers that have not handled the message. If there was none at its arrival, the first matching
   * consumer that attaches receives it.
   */
  waiting: Set<string>
}

/** A stream in memory. A message is removed when all its consumers have handled it. */
export class MemoryStream {
  readonly #config: MemoryStreamConfig
  readonly #messages = new Map<number, StreamEntry>()
  readonly #consumers = new Map<string, MemoryConsumer & { matches(subject: string): boolean }>()
  /** Ids of published messages with the end of their duplicate window, oldest first. */
  readonly #known = new Map<string, number>()
  #bytes = 0
  #last = 0

  constructor(config: MemoryStreamConfig) {
    this.#config = config
  }

  get last(): number {
    return this.#last
  }

  /**
   * Reserves space for a message, which `add` then appends. Returns undefined for a duplicate id; throws `busy` if the
   * stream is full.
   */
  admit(message: StoredMessage): StreamEntry | undefined {
    const now = performance.now()
    this.#forget(now)
    if (this.#known.has(message.id)) return undefined
    this.#makeRoom(message.body.byteLength)
    this.#last += 1
    this.#take(message, now)
    return { ...message, key: randomUUID(), sequence: this.#last, atMs: now, waiting: this.#wanting(message) }
  }

  /** Appends an admitted message and wakes its consumers. */
  add(message: StreamEntry): void {
    const waiting = message.waiting.size > 0 ? message.waiting : this.#wanting(message)
    this.#messages.set(message.sequence, { ...message, waiting })
    for (const name of waiting) {
      const consumer = this.#consumers.get(name)
      if (consumer) hand(consumer, message.sequence)
    }
  }

  /** Releases the space of an admitted message that could not be stored, and allows its id again. */
  refuse({ id, body }: StreamEntry): void {
    this.#known.delete(id)
    this.#bytes -= body.byteLength
  }

  /** Restores a message of the previous process, before consumers are attached. */
  restore(message: StreamEntry): void {
    const sequence = this.#messages.has(message.sequence) ? this.#last + 1 : message.sequence
    this.#last = Math.max(this.#last, sequence)
    this.#take(message, performance.now())
    this.#messages.set(sequence, { ...message, sequence })
  }

  get(sequence: number): StreamEntry | undefined {
    return this.#messages.get(sequence)
  }

  remove(sequence: number): boolean {
    const message = this.#messages.get(sequence)
    if (!message) return false
    this.#messages.delete(sequence)
    this.#bytes -= message.body.byteLength
    this.#config.ended?.(message)
    return true
  }

  /** Returns the consumer with this name, or creates it. A new one receives the messages that wait for a consumer. */
  consumer({ name, subjects }: ResolvedConsumer): MemoryConsumer {
    const known = this.#consumers.get(name)
    if (known) return known
    const consumer = {
      name,
      matches: createSubjectMatcher(subjects),
      ready: [],
      open: new Map(),
      wakes: new Set<() => void>(),
    }
    this.#consumers.set(name, consumer)
    for (const [sequence, { subject, waiting }] of this.#messages) {
      if (!consumer.matches(subject) || (waiting.size > 0 && !waiting.has(name))) continue
      waiting.add(name)
      hand(consumer, sequence)
    }
    return consumer
  }

  done(consumer: MemoryConsumer, sequence: number): void {
    consumer.open.delete(sequence)
    const waiting = this.#messages.get(sequence)?.waiting
    waiting?.delete(consumer.name)
    if (waiting?.size === 0) this.remove(sequence)
  }

  again(consumer: MemoryConsumer, sequence: number): void {
    if (!this.#messages.has(sequence)) return
    consumer.ready.push(sequence)
    wake(consumer)
  }

  #wanting({ subject }: StoredMessage): Set<string> {
    return new Set([...this.#consumers.values()].filter(({ matches }) => matches(subject)).map(({ name }) => name))
  }

  #take({ id, body }: StoredMessage, now: number): void {
    this.#bytes += body.byteLength
    this.#known.set(id, now + this.#config.duplicateWindowMs)
  }

  #makeRoom(bytes: number): void {
    const { maxBytes, whenFull, name } = this.#config
    for (const [sequence] of this.#messages) {
      if (whenFull === 'refuse' || this.#bytes + bytes <= maxBytes) break
      this.remove(sequence)
    }
    if (this.#bytes + bytes > maxBytes) throw createStreamFullError(name)
  }

  #forget(now: number): void {
    for (const [id, untilMs] of this.#known) {
      if (now < untilMs && this.#known.size < maxKnownIds) break
      this.#known.delete(id)
    }
    for (const [sequence, { atMs }] of this.#messages) {
      if (now - atMs < this.#config.maxAgeMs) break
      this.remove(sequence)
    }
  }
}

/** Maximum remembered ids; the oldest are dropped first. */
const maxKnownIds = 100_000

/** Returns the error for a publisher when a stream is full. */
export const createStreamFullError = (stream: AnyStreamName): ServiceError =>
  new ServiceError('busy', `the queue "${stream}" is full (${computeMaxMebibytes(stream)} MiB); ${streamFullRemedy}`, {
    retryAfterMs: 5_000,
  })

const streamFullRemedy = 'check that its consumers are running and that their targets respond'
const computeMaxMebibytes = (stream: AnyStreamName): number => Math.round(streamConfigs[stream].maxBytes / 1024 / 1024)

const hand = (consumer: MemoryConsumer, sequence: number): void => {
  consumer.open.set(sequence, 0)
  consumer.ready.push(sequence)
  wake(consumer)
}

const wake = ({ wakes }: MemoryConsumer): void => {
  for (const listener of wakes) listener()
}
