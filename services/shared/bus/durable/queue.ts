import type { z } from 'zod'

/**
 * A durable queue with at-least-once delivery. The drivers for memory and JetStream pass the same conformance suite.
 */
export interface Queue extends AsyncDisposable {
  /** False while the server does not respond; always true in memory. */
  readonly connected: boolean
  /** The problem of the server with its address and a remedy; undefined if there is none. */
  readonly problem?: string | undefined
  /**
   * Resolves once the message is stored. A repeated id within the duplicate window is not stored again. Throws `busy`
   * if the stream is full. Throws `unavailable` if no acknowledgement arrives; the message may or may not be stored.
   */
  publish(subject: string, message: { id: string; body: unknown }): Promise<PublishResult>
  /** Delivers messages to `handle` until disposed; consumers with the same name share them across processes. */
  consume<S extends z.ZodType>(consumer: Consumer<S>, handle: MessageHandler<z.output<S>>): Promise<AsyncDisposable>
  /** The dead letters of each stream, kept for 30 days. */
  readonly dead: Readonly<Record<StreamName, DeadLetters>>
}

/** The result of a publish. */
export interface PublishResult {
  duplicate: boolean
}

/** The declaration of a consumer: the messages that it receives and its limits. */
export interface Consumer<S extends z.ZodType> {
  stream: StreamName
  /**
   * Letters, digits and dashes. Messages are stored for the consumer even while no process consumes under this name.
   */
  name: string
  /** One subject, or a pattern with NATS wildcards. */
  subjects: string
  /** Schema of the body. A message with an invalid body becomes a dead letter. */
  body: S
  /** Maximum deliveries before a message becomes a dead letter; default 20. */
  tries?: number
  /** Maximum messages in flight; default 256. */
  maxInFlight?: number
  /** Set if the handler is idempotent; acknowledgements are then not confirmed by the server. */
  mayRepeat?: boolean
}

/**
 * Handles one message. The message stays in progress until the returned promise resolves; if the promise rejects, the
 * message is redelivered.
 */
export type MessageHandler<T> = (message: QueuedMessage<T>) => Promise<MessageOutcome>

/** A message as its handler receives it. */
export interface QueuedMessage<T> {
  subject: string
  id: string
  body: T
  /** Number of deliveries including this one. */
  deliveries: number
}

/** The outcome of handling a message: done, redelivery after a delay, or a dead letter with a public reason. */
export type MessageOutcome = 'done' | { againInMs: number } | { dead: string }

/** The streams that services consume. */
export type StreamName = 'EVENTS'

/** Access to the dead letters of a stream. */
export interface DeadLetters {
  /**
   * Lists dead letters, newest first. `before` is the `next` cursor of the previous page; `next` is null on the last
   * page.
   */
  list(page: { limit: number; before?: string | undefined }): Promise<{ letters: DeadLetter[]; next: string | null }>
  get(id: string): Promise<DeadLetter | undefined>
  /** Removes a dead letter; returns whether it existed. */
  remove(id: string): Promise<boolean>
}

/** A message that could not be handled, with the reason. */
export interface DeadLetter {
  id: string
  subject: string
  /** The id of the published message. */
  messageId: string
  body: unknown
  reason: string
  deliveries: number
  /** Epoch milliseconds of its last failure. */
  atMs: number
}
