import type { Consumer, PublishResult } from './queue.ts'
import type { AnyStream } from './streams.ts'
import type { z } from 'zod'

/** What one kind of server must do; everything else of a queue is written once above it. */
export interface QueueDriver extends AsyncDisposable {
  readonly connected: boolean
  /** What is wrong with the server behind it, in words; undefined while nothing is. */
  readonly problem?: string | undefined
  store(stream: AnyStream, message: StoredMessage): Promise<PublishResult>
  /** Makes the consumer known, so that messages wait for it from now on. */
  attach(consumer: ResolvedConsumer): Promise<void>
  /** Returns up to `max` messages as they arrive. Ends earlier when it has to poll again or the signal aborts; throws when the server fails. */
  take(consumer: ResolvedConsumer, max: number, signal: AbortSignal): AsyncIterable<ClaimedMessage>
  /** Messages that it has not dealt with. */
  backlog(consumer: ResolvedConsumer): Promise<number>
  /** Of a stream of dead letters: the number of the newest, or 0. */
  lastDead(stream: AnyStream): Promise<number>
  dead(stream: AnyStream, sequence: number): Promise<Uint8Array | undefined>
  removeDead(stream: AnyStream, sequence: number): Promise<boolean>
}

/** A consumer with all its limits resolved. */
export type ResolvedConsumer = Omit<Required<Consumer<z.ZodType>>, 'body'>

/** A message on its way into a stream. */
export interface StoredMessage {
  subject: string
  id: string
  body: Uint8Array
}

/** A message that was handed over and has to be answered for. */
export interface ClaimedMessage extends StoredMessage {
  deliveries: number
  /** How long ago it was kept, in milliseconds. */
  ageMs: number
  /** Resolves when the server knows, unless the consumer's messages may repeat; it is not handed over again. */
  done(): Promise<void>
  again(inMs: number): void
  /** Extends the time after which the message is redelivered to another consumer. */
  working(): void
}
