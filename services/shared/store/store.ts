import type { z } from 'zod'

/**
 * Small shared state: values by key, changed by compare-and-set, with leases and an outbox. Drivers for memory, Redis
 * and SQL pass the same conformance suite.
 */
export interface Store extends AsyncDisposable {
  /** Whether the server responds. */
  readonly connected: boolean
  /** The problem of the server with its path or address and a remedy; undefined if there is none. */
  readonly problem?: string | undefined
  get<S extends z.ZodType>(key: string, schema: S): Promise<z.output<S> | undefined>
  /** Reads several keys in one request and returns their values in order; undefined for a key without a value. */
  getAll<S extends z.ZodType>(keys: readonly string[], schema: S): Promise<(z.output<S> | undefined)[]>
  /**
   * Applies a pure step to the current value and returns the new value. The step runs again after a concurrent write.
   * Its outbox messages are appended in the same atomic write. A step that returns undefined changes nothing. Throws
   * `conflict` if `fence` is older than one already seen under this lease name, and `busy` if the outbox is full.
   * Throws `unavailable` if the server does not respond: the write may or may not have happened.
   */
  update<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => UpdateStep<z.input<S>> | undefined,
    fence?: Fence,
  ): Promise<z.output<S> | undefined>
  /** Like `update`, for a key that probably has no value: tries an insert first, which saves a read. */
  updateNew<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => UpdateStep<z.input<S>> | undefined,
  ): Promise<z.output<S> | undefined>
  /**
   * Like `update`, for one key and several keys of another kind, in one atomic write that also appends and acknowledges
   * messages. Keys that this process has not seen are at first assumed to have no value. Updates that share the first
   * key run one at a time within this process.
   * Returns false and changes nothing if the outbox lacks a required message; otherwise returns true.
   */
  updateTogether<S extends z.ZodType, M extends z.ZodType>(
    keys: AtomicUpdateKeys<S, M>,
    step: (
      one: z.output<S> | undefined,
      many: ReadonlyMap<string, z.output<M>>,
    ) => AtomicUpdateStep<z.input<S>, z.input<M>> | undefined,
  ): Promise<boolean>
  /**
   * Takes the named lease for `lengthMs`, which must be the same for all takers. Returns undefined while another
   * process holds it. Use few names, because their tokens are kept forever.
   */
  lease(name: string, lengthMs: number): Promise<Lease | undefined>
  readonly outbox: Outbox
}

/** The result of an update step. A `value` of undefined removes the key. */
export interface UpdateStep<T> {
  value: T | undefined
  /** Expiry of the key; undefined means never. */
  expiresInMs?: number
  outbox?: readonly OutboxMessage[]
}

/** The keys of an atomic update. */
export interface AtomicUpdateKeys<S, M> {
  /** The single key and its schema; undefined if only keys of `many` are written. */
  one?: { key: string; schema: S } | undefined
  many: { keys: readonly string[]; schema: M }
}

/** The result of a step of an atomic update. */
export interface AtomicUpdateStep<S, M> {
  /** The new value of the single key; undefined removes the value. */
  one?: S | undefined
  /**
   * Values by key; other keys are not changed. Conflicts are detected only on written keys, so a step that depends on a
   * key must write it.
   */
  many: ReadonlyMap<string, M>
  /** Expiry of the values of `many`. */
  expiresInMs?: number
  outbox?: readonly OutboxMessage[]
  /** Ids of messages to acknowledge with this write. */
  acks?: readonly string[]
  /** Ids of messages that must be in the outbox. */
  needs?: readonly string[]
}

/** A message to deliver after its state is stored. */
export interface OutboxMessage {
  /** An id that the writer chooses. Appending an id that is still in the outbox changes nothing. */
  id: string
  topic: string
  payload: unknown
}

/** The fencing token of a lease. Tokens of one name only increase. */
export interface Fence {
  name: string
  token: number
}

/** A lease that this process holds; disposing it releases it. */
export interface Lease extends AsyncDisposable {
  readonly fence: Fence
  /** Extends the lease by `lengthMs` and returns whether it is still held; false if it was lost. */
  renew(lengthMs: number): Promise<boolean>
}

/** The outbox: messages that were written together with state and are not yet acknowledged. */
export interface Outbox {
  /**
   * Claims up to `max` messages, oldest first. Messages not acknowledged within `claimMs`, at most 60,000, go to the
   * next claimer.
   */
  claim(max: number, claimMs: number): Promise<ClaimedMessage[]>
  /** Acknowledges messages by their ids. */
  ack(ids: readonly string[]): Promise<void>
  /**
   * Sets the end of the claims to `claimMs` from now, more than 0 and at most 60,000. Ignores messages that are
   * unclaimed or no longer in the outbox.
   */
  renew(ids: readonly string[], claimMs: number): Promise<void>
  /** Returns the ids that are in the outbox. */
  holds(ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Calls the listener soon after an append by any process, and every second, because a notification may be lost. The
   * listener must not throw.
   */
  onAppend(listener: () => void): Disposable
  /**
   * Registers a consumer for messages that this store appends. The write that appends them also claims them, and the
   * consumer gets them immediately. Only one consumer can be registered.
   */
  takeOwn(taker: OwnMessageConsumer): Disposable
}

/** A consumer of messages that its own process appends. */
export interface OwnMessageConsumer {
  /** Length of the claims, in milliseconds. */
  claimMs: number
  /** Returns whether to deliver appended messages here; otherwise any process may claim them. */
  hasRoom(): boolean
  /** Receives messages; must not throw. A message whose id was already in the outbox is delivered once more. */
  take(messages: readonly ClaimedMessage[]): void
}

/** A claimed message, to deliver before the claim ends. */
export interface ClaimedMessage extends OutboxMessage {
  /** Number of claims including this one. */
  attempt: number
}
