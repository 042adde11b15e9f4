import type { z } from 'zod'

/**
 * Small shared state: values by key, changed by compare-and-set, with leases and an outbox. Drivers for memory, Redis
 * and SQL pass the same conformance suite.
 */
export interface Store extends AsyncDisposable {
  /** False while the server does not respond. */
  readonly connected: boolean
  /** The problem of the server with its path or address and a remedy; undefined if there is none. */
  readonly problem?: string | undefined
  get<S extends z.ZodType>(key: string, schema: S): Promise<z.output<S> | undefined>
  /** Reads several keys in one request, in order. */
  getAll<S extends z.ZodType>(keys: readonly string[], schema: S): Promise<(z.output<S> | undefined)[]>
  /**
   * Applies a pure step to the current value until no other write interferes, and returns the resulting value. The step
   * may run several times. Its outbox entries are appended in the same atomic write. A step that returns nothing
   * changes nothing.
   * Throws `conflict` if `fence` is older than one already seen under this lease name, and `busy` if the outbox is
   * full. Throws `unavailable` if the server does not respond: the write may or may not have happened.
   */
  update<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined,
    fence?: Fence,
  ): Promise<z.output<S> | undefined>
  /** Like `update`, for a key that probably has no value: inserts first, which saves a read. */
  updateNew<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined,
  ): Promise<z.output<S> | undefined>
  /**
   * Like `update`, for one key and several keys of another kind, in one atomic write that also appends and acknowledges
   * messages. Keys that this process has not seen are at first assumed to have no value. Updates that share the first
   * key run one at a time within this process.
   * Returns false and changes nothing if the outbox lacks a required message.
   */
  updateTogether<S extends z.ZodType, M extends z.ZodType>(
    keys: TogetherKeys<S, M>,
    step: (
      one: z.output<S> | undefined,
      many: ReadonlyMap<string, z.output<M>>,
    ) => TogetherStep<z.input<S>, z.input<M>> | undefined,
  ): Promise<boolean>
  /**
   * Takes the named lease for `lengthMs`, which must be the same for all takers. Returns undefined while another
   * process holds it. Use few names, because their tokens are kept forever.
   */
  lease(name: string, lengthMs: number): Promise<Lease | undefined>
  readonly outbox: Outbox
}

/** The result of a step. `value: undefined` removes the key. */
export interface Step<T> {
  value: T | undefined
  /** Expiry of the key; undefined means never. */
  expiresInMs?: number
  outbox?: readonly OutboxMessage[]
}

/** The keys of an atomic update. */
export interface TogetherKeys<S, M> {
  /** Undefined if only keys of `many` are written. */
  one?: { key: string; schema: S } | undefined
  many: { keys: readonly string[]; schema: M }
}

/** The result of a step of an atomic update. */
export interface TogetherStep<S, M> {
  /** Undefined removes the value. */
  one?: S | undefined
  /**
   * Values by key; other keys are not changed. Only written keys are compared with the store, so a step that depends on
   * a key must write it.
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
  /** Set by the writer; appending an id that is still in the outbox changes nothing. */
  id: string
  topic: string
  payload: unknown
}

/** A fencing token of a lease; the tokens of one name only grow. */
export interface Fence {
  name: string
  token: number
}

/** A lease, held by one process at a time; disposing it releases it. */
export interface Lease extends AsyncDisposable {
  readonly fence: Fence
  /** Extends the lease by `lengthMs`; returns false if it was lost. */
  renew(lengthMs: number): Promise<boolean>
}

/** Messages that were written with state and not yet delivered. */
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
   * Calls the listener soon after an append by any process, and every second, because a push may get lost. The listener
   * must not throw.
   */
  onAppend(listener: () => void): Disposable
  /**
   * Claims the messages of this store in the write that appends them, and delivers them immediately without a poll.
   * Supports one consumer at a time.
   */
  takeOwn(taker: OwnTaker): Disposable
}

/** A consumer of messages that its own process appends. */
export interface OwnTaker {
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
