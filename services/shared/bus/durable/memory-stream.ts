import { ServiceError } from '#proto/errors.ts'
import { matcher } from '../match.ts'
import type { Attached, StoredMessage } from './driver.ts'
import type { AnyStream, StreamPlan } from './streams.ts'

/** What one stream may hold. */
export type MemoryPlan = Pick<StreamPlan, 'maxAgeMs' | 'maxBytes' | 'whenFull' | 'duplicateWindowMs'> & {
  name: AnyStream
}

/** What one consumer has to deal with. */
export interface MemoryConsumer {
  /** Numbers of messages to hand over, the oldest first. */
  readonly ready: number[]
  /** How often each message that it has not dealt with was handed over. */
  readonly open: Map<number, number>
  /** Called when something became ready. */
  readonly wakes: Set<() => void>
}

/** A message, and when it was kept by the clock that only moves forward. */
export interface Kept extends StoredMessage {
  atMs: number
}

/** A stream that lives as long as the process. A message ends when no consumer waits for it any more. */
export class MemoryStream {
  readonly #plan: MemoryPlan
  readonly #messages = new Map<number, Kept>()
  readonly #consumers = new Map<string, MemoryConsumer & { matches(subject: string): boolean }>()
  /** Ids with the time until which they are known, the oldest first. */
  readonly #known = new Map<string, number>()
  #bytes = 0
  #last = 0

  constructor(plan: MemoryPlan) {
    this.#plan = plan
  }

  get last(): number {
    return this.#last
  }

  /** False when the id is known; throws `busy` when there is no room. */
  add(message: StoredMessage): boolean {
    const now = performance.now()
    this.#forget(now)
    if (this.#known.has(message.id)) return false
    this.#makeRoom(message.body.byteLength)
    this.#last += 1
    this.#messages.set(this.#last, { ...message, atMs: now })
    this.#bytes += message.body.byteLength
    this.#known.set(message.id, now + this.#plan.duplicateWindowMs)
    for (const consumer of this.#consumers.values()) if (consumer.matches(message.subject)) hand(consumer, this.#last)
    return true
  }

  get(sequence: number): Kept | undefined {
    return this.#messages.get(sequence)
  }

  remove(sequence: number): boolean {
    this.#bytes -= this.#messages.get(sequence)?.body.byteLength ?? 0
    return this.#messages.delete(sequence)
  }

  /** The consumer of this name; a new one gets all that is kept. */
  consumer({ name, subjects }: Attached): MemoryConsumer {
    const known = this.#consumers.get(name)
    if (known) return known
    const consumer = { matches: matcher(subjects), ready: [], open: new Map(), wakes: new Set<() => void>() }
    for (const [sequence, { subject }] of this.#messages) if (consumer.matches(subject)) hand(consumer, sequence)
    this.#consumers.set(name, consumer)
    return consumer
  }

  done(consumer: MemoryConsumer, sequence: number): void {
    consumer.open.delete(sequence)
    if (![...this.#consumers.values()].some(({ open }) => open.has(sequence))) this.remove(sequence)
  }

  again(consumer: MemoryConsumer, sequence: number): void {
    if (!this.#messages.has(sequence)) return
    consumer.ready.push(sequence)
    wake(consumer)
  }

  #makeRoom(bytes: number): void {
    const { maxBytes, whenFull, name } = this.#plan
    for (const [sequence] of this.#messages) {
      if (whenFull === 'refuse' || this.#bytes + bytes <= maxBytes) break
      this.remove(sequence)
    }
    if (this.#bytes + bytes > maxBytes) throw full(name)
  }

  #forget(now: number): void {
    for (const [id, untilMs] of this.#known) {
      if (now < untilMs && this.#known.size < mostKnown) break
      this.#known.delete(id)
    }
    for (const [sequence, { atMs }] of this.#messages) {
      if (now - atMs < this.#plan.maxAgeMs) break
      this.remove(sequence)
    }
  }
}

/** Ids that are known at once; beyond, those that came first are forgotten. */
const mostKnown = 100_000

/** What a publisher is told when a stream has no room. */
export const full = (stream: AnyStream): ServiceError =>
  new ServiceError('busy', `the queue ${stream} is full; its messages must be dealt with first`, {
    retryAfterMs: 5_000,
  })

const hand = (consumer: MemoryConsumer, sequence: number): void => {
  consumer.open.set(sequence, 0)
  consumer.ready.push(sequence)
  wake(consumer)
}

const wake = ({ wakes }: MemoryConsumer): void => {
  for (const listener of wakes) listener()
}
