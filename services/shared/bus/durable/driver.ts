import type { Consumer, PublishResult } from './queue.ts'
import type { AnyStream } from './streams.ts'
import type { z } from 'zod'

/** The operations that differ between servers; `createQueue` implements the rest of a queue. */
export interface QueueDriver extends AsyncDisposable {
  readonly connected: boolean
  /** The problem of the server; undefined if there is none. */
  readonly problem?: string | undefined
  store(stream: AnyStream, message: StoredMessage): Promise<PublishResult>
  /** Registers the consumer, so that messages are kept for it from now on. */
  attach(consumer: ResolvedConsumer): Promise<void>
  /** Yields up to `max` messages as they arrive. Ends earlier when it has to poll again or the signal aborts; throws if the server fails. */
  take(consumer: ResolvedConsumer, max: number, signal: AbortSignal): AsyncIterable<ClaimedMessage>
  /** Returns the number of unhandled messages of the consumer. */
  backlog(consumer: ResolvedConsumer): Promise<number>
  /** Returns the sequence number of the newest dead letter of a stream, or 0. */
  lastDead(stream: AnyStream): Promise<number>
  dead(stream: AnyStream, sequence: number): Promise<Uint8Array | undefined>
  removeDead(stream: AnyStream, sequence: number): Promise<boolean>
}

/** A consumer with all its limits resolved. */
export type ResolvedConsumer = Omit<Required<Consumer<z.ZodType>>, 'body'>

/** A message to store in a stream. */
export interface StoredMessage {
  subject: string
  id: string
  body: Uint8Array
}

/** A delivered message that must be acknowledged. */
export interface ClaimedMessage extends StoredMessage {
  deliveries: number
  /** Time since it was stored, in milliseconds. */
  ageMs: number
  /** Acknowledges the message. Resolves after the server confirmed it, or at once for consumers with `mayRepeat`. */
  done(): Promise<void>
  again(inMs: number): void
  /** Extends the time after which the message is redelivered to another consumer. */
  working(): void
}
