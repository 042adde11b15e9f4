import type { Consumer, PublishResult } from './queue.ts'
import type { AnyStreamName } from './streams.ts'
import type { z } from 'zod'

/** The server-specific operations of a queue; `createQueue` implements the rest. */
export interface QueueDriver extends AsyncDisposable {
  readonly connected: boolean
  /** Why the queue does not work, with a remedy; undefined if there is no problem. */
  readonly problem?: string | undefined
  store(stream: AnyStreamName, message: StoredMessage): Promise<PublishResult>
  /** Registers the consumer. From then on, the stream keeps messages until the consumer has handled them. */
  attach(consumer: ResolvedConsumer): Promise<void>
  /**
   * Yields up to `max` messages as they arrive. Ends earlier when the pull request expires or the signal aborts. Throws
   * if the server fails.
   */
  take(consumer: ResolvedConsumer, max: number, signal: AbortSignal): AsyncIterable<ClaimedMessage>
  /** Returns the number of unhandled messages of the consumer. */
  backlog(consumer: ResolvedConsumer): Promise<number>
  /** Returns the sequence number of the newest dead letter of a stream, or 0. */
  lastDead(stream: AnyStreamName): Promise<number>
  dead(stream: AnyStreamName, sequence: number): Promise<Uint8Array | undefined>
  removeDead(stream: AnyStreamName, sequence: number): Promise<boolean>
}

/** A consumer with the default values of all limits filled in. */
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
  /** Acknowledges the message. Resolves after the server confirms this; immediately for `mayRepeat` consumers. */
  done(): Promise<void>
  again(inMs: number): void
  /** Reports progress, which postpones the redelivery of the message. */
  working(): void
}
