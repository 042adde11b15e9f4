import type { z } from 'zod'

/** Messages that wait until a consumer has handled them, each at least once. Memory and JetStream pass one conformance suite. */
export interface Queue extends AsyncDisposable {
  /** False while the server behind it does not answer; always true in memory. */
  readonly connected: boolean
  /** What is wrong with the server behind it, with its address and a remedy; undefined while nothing is. */
  readonly problem?: string | undefined
  /**
   * Resolves once the message is kept; an id that came within the stream's duplicate window is not kept again.
   * Throws `busy` when the stream is full and `unavailable` when no word comes from the server: then it may be kept or not.
   */
  publish(subject: string, message: { id: string; body: unknown }): Promise<PublishResult>
  /** Hands messages to `handle` until disposed; consumers of one name share them, wherever they run. */
  consume<S extends z.ZodType>(consumer: Consumer<S>, handle: Handle<z.output<S>>): Promise<AsyncDisposable>
  /** What could not be dealt with, of each stream, kept for 30 days. */
  readonly dead: Readonly<Record<StreamName, DeadLetters>>
}

/** What became of a publish. */
export interface PublishResult {
  duplicate: boolean
}

/** Who takes which messages. */
export interface Consumer<S extends z.ZodType> {
  stream: StreamName
  /** Letters, digits and dashes. Unhandled messages wait for it while no process consumes. */
  name: string
  /** One subject, or a pattern with NATS rules. */
  subjects: string
  /** A body that does not fit is a dead letter. */
  body: S
  /** A message that was handed over more often without an end is a dead letter; default 20. */
  tries?: number
  /** Messages handled at once; default 256. */
  maxInFlight?: number
  /** Set when its handler is idempotent: the queue then does not wait for the server to confirm an acknowledgement. */
  mayRepeat?: boolean
}

/** Handles one message, which counts as in progress until this resolves; an error puts it back for a while. */
export type Handle<T> = (message: QueuedMessage<T>) => Promise<Outcome>

/** A message as its consumer sees it. */
export interface QueuedMessage<T> {
  subject: string
  id: string
  body: T
  /** How often it was handed over, this time included. */
  deliveries: number
}

/** How a message ended: dealt with, to be handed over again, or given up with a reason that may be shown. */
export type Outcome = 'done' | { againInMs: number } | { dead: string }

/** The streams that services consume. */
export type StreamName = 'EVENTS'

/** Messages that were given up, each with its reason. */
export interface DeadLetters {
  /** The newest first, before the letter of the id `before` where one is given; `next` continues and is null at the end. */
  list(page: { limit: number; before?: string | undefined }): Promise<{ letters: DeadLetter[]; next: string | null }>
  get(id: string): Promise<DeadLetter | undefined>
  /** False when there is no such letter any more. */
  remove(id: string): Promise<boolean>
}

/** One message that was given up. */
export interface DeadLetter {
  id: string
  subject: string
  /** The id it was published with. */
  messageId: string
  body: unknown
  reason: string
  deliveries: number
  /** Epoch milliseconds of when it was given up. */
  atMs: number
}
