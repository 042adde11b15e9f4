import type { z } from 'zod'

/** Small shared state: values under keys, changed by compare-and-set, with leases and an outbox. Memory, Redis and SQL drivers pass one conformance suite. */
export interface Store extends AsyncDisposable {
  /** False while the server behind it does not answer. */
  readonly connected: boolean
  /** What is wrong with the server behind it, with its path or address and a remedy; undefined while nothing is. */
  readonly problem?: string | undefined
  get<S extends z.ZodType>(key: string, schema: S): Promise<z.output<S> | undefined>
  /** The same of several keys in one exchange, in their order. */
  getAll<S extends z.ZodType>(keys: readonly string[], schema: S): Promise<(z.output<S> | undefined)[]>
  /**
   * Applies a pure step to the current value until no other write interferes, and returns the resulting value.
   * The step may run several times. Entries of its outbox are appended in the same atomic write. A step that gives nothing leaves
   * everything as it is.
   * Throws `conflict` when `fence` is older than one already seen under this lease name, `busy` when the outbox is full, and
   * `unavailable` when the server behind does not answer: then the write may have happened or not.
   */
  update<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined,
    fence?: Fence,
  ): Promise<z.output<S> | undefined>
  /** `update` of a key that most likely has no value yet: it tries to insert first, which saves a read when that succeeds. */
  updateNew<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined,
  ): Promise<z.output<S> | undefined>
  /**
   * `update` of one key and of several of another kind, in one atomic write together with messages that are appended or acknowledged. Keys that
   * this process has not seen are taken for new first. Updates that share the first key wait for each other within this process.
   * Resolves with false, and changes nothing, when the outbox lacks a message that the step needs.
   */
  updateTogether<S extends z.ZodType, M extends z.ZodType>(
    keys: TogetherKeys<S, M>,
    step: (
      one: z.output<S> | undefined,
      many: ReadonlyMap<string, z.output<M>>,
    ) => TogetherStep<z.input<S>, z.input<M>> | undefined,
  ): Promise<boolean>
  /**
   * Takes the named lease for `lengthMs`, the same for all takers of the name, or returns `undefined` while another holds it. Names
   * are few and stay: their tokens are kept.
   */
  lease(name: string, lengthMs: number): Promise<Lease | undefined>
  readonly outbox: Outbox
}

/** What a step wants written. `value: undefined` removes the key. */
export interface Step<T> {
  value: T | undefined
  /** The key disappears after this long; absent means never. */
  expiresInMs?: number
  outbox?: readonly OutboxMessage[]
}

/** Which keys are written together. */
export interface TogetherKeys<S, M> {
  /** Absent where only keys of the other kind are written. */
  one?: { key: string; schema: S } | undefined
  many: { keys: readonly string[]; schema: M }
}

/** What a step wants written together. */
export interface TogetherStep<S, M> {
  /** Undefined removes the value. */
  one?: S | undefined
  /**
   * Values by key; keys without one stay as they are. Only keys that are written are compared with the store: a step whose decision
   * depends on a key writes it too.
   */
  many: ReadonlyMap<string, M>
  /** Of the values of `many`. */
  expiresInMs?: number
  outbox?: readonly OutboxMessage[]
  /** Ids of messages that end with this write. */
  acks?: readonly string[]
  /** Ids of messages that the outbox must hold. */
  needs?: readonly string[]
}

/** Something to hand on once the state it is written with is safe. */
export interface OutboxMessage {
  /** Chosen by the writer; appending an id that is still in the outbox changes nothing. */
  id: string
  topic: string
  payload: unknown
}

/** Proof of holding a lease: tokens of one name only grow. */
export interface Fence {
  name: string
  token: number
}

/** Held by one process at a time; disposing it gives it up. */
export interface Lease extends AsyncDisposable {
  readonly fence: Fence
  /** Holds on for another `lengthMs`; false when the lease was lost. */
  renew(lengthMs: number): Promise<boolean>
}

/** Messages written with state and not yet handed on. */
export interface Outbox {
  /** Takes up to `max` messages, oldest first; messages not acknowledged within `claimMs`, at most 60,000, go to the next claimer. */
  claim(max: number, claimMs: number): Promise<ClaimedMessage[]>
  /** Ends messages by their ids. */
  ack(ids: readonly string[]): Promise<void>
  /**
   * Extends claims of messages by their ids for another `claimMs`, at most 60,000; 0 releases them. Unclaimed messages, and messages no
   * longer in the outbox, stay as they are.
   */
  renew(ids: readonly string[], claimMs: number): Promise<void>
  /** Those of the ids that are in the outbox. */
  holds(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Calls soon after an append anywhere, and every second besides, for a push may get lost. The listener must not throw. */
  onAppend(listener: () => void): Disposable
  /** Claims what this store itself appends in the same write, and delivers it immediately, so no poll is needed. One consumer at a time. */
  takeOwn(taker: OwnTaker): Disposable
}

/** Consumes what its own process appends. */
export interface OwnTaker {
  claimMs: number
  /** False leaves the appended messages in the outbox, for any process to claim. */
  hasRoom(): boolean
  /** Must not throw. An id that was in the outbox already is handed over once more. */
  take(messages: readonly ClaimedMessage[]): void
}

/** A message to hand on before the claim ends. */
export interface ClaimedMessage extends OutboxMessage {
  /** How often it was claimed, this time included. */
  attempt: number
}
