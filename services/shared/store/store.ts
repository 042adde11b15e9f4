import type { z } from 'zod'

/** Small shared state: values under keys, changed by compare-and-set, with leases and an outbox. Memory, Redis and SQL drivers pass one conformance suite. */
export interface Store extends AsyncDisposable {
  /** False while the server behind it does not answer. */
  readonly connected: boolean
  /** What is wrong with the server behind it, with its path or address and a remedy; undefined while nothing is. */
  readonly problem?: string | undefined
  get<S extends z.ZodType>(key: string, schema: S): Promise<z.output<S> | undefined>
  /**
   * Applies a pure step to the current value until nobody wrote in between, and returns the value that stands.
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
  /** `update` of a key that most likely has no value yet: that is tried before anybody is asked, and costs one exchange less when it is so. */
  updateNew<S extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined,
  ): Promise<z.output<S> | undefined>
  /**
   * `update`, and what stands under the key `next` right after the write, in one exchange where the server can; it is not looked for, and
   * `undefined`, when the step gives nothing.
   */
  updateThenGet<S extends z.ZodType, N extends z.ZodType>(
    key: string,
    schema: S,
    step: (current: z.output<S> | undefined) => Step<z.input<S>> | undefined,
    next: { key: string; schema: N },
  ): Promise<{ value: z.output<S> | undefined; next: z.output<N> | undefined }>
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

/** Something to hand on once the state it is written with is safe. */
export interface OutboxMessage {
  /** Chosen by the writer, of one key only; appending an id that is still in the outbox changes nothing. */
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
  /** Ends messages that were handed on. */
  ack(messages: readonly Placed[]): Promise<void>
  /** Calls soon after an append anywhere, and every second besides, for a push may get lost. The listener must not throw. */
  onAppend(listener: () => void): Disposable
  /** Claims what this store itself appends in the very write, and hands it over at once: nobody needs to look for it. One at a time. */
  takeOwn(taker: OwnTaker): Disposable
}

/** Whoever takes what its own process appends. */
export interface OwnTaker {
  claimMs: number
  /** False leaves what is appended in the outbox, for whoever claims it. */
  hasRoom(): boolean
  /** Must not throw. An id that was in the outbox already is handed over once more. */
  take(messages: readonly ClaimedMessage[]): void
}

/** A message as it is acknowledged. */
export interface Placed {
  id: string
  /** Where the store keeps it. */
  place: number
}

/** A message to hand on before the claim ends. */
export interface ClaimedMessage extends OutboxMessage, Placed {
  /** How often it was claimed, this time included. */
  attempt: number
}
