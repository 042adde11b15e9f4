import type { z } from 'zod'

/** Small shared state: values under keys, changed by compare-and-set, with leases and an outbox. Memory, Redis and SQL drivers pass one conformance suite. */
export interface Store extends AsyncDisposable {
  /** False while the server behind it does not answer. */
  readonly connected: boolean
  get<S extends z.ZodType>(key: string, schema: S): Promise<z.output<S> | undefined>
  /**
   * Applies a pure step to the current value until nobody wrote in between, and returns the value that stands.
   * The step may run several times. Entries of its outbox are appended in the same atomic write.
   * Throws `conflict` when `fence` is older than one already seen under this lease name.
   */
  update<S extends z.ZodType>(key: string, schema: S, step: (current: z.output<S> | undefined) => Step<z.input<S>>, fence?: Fence): Promise<z.output<S> | undefined>
  /** Takes the named lease for `lengthMs`, or `undefined` while somebody else holds it. */
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

export interface Lease extends AsyncDisposable {
  readonly fence: Fence
  /** Holds on for another `lengthMs`; false when the lease was lost. */
  renew(lengthMs: number): Promise<boolean>
}

/** Messages written with state and not yet handed on. */
export interface Outbox {
  /** Takes up to `max` messages, oldest first; whoever has not acknowledged within `claimMs` loses them to the next claimer. */
  claim(max: number, claimMs: number): Promise<ClaimedMessage[]>
  ack(ids: readonly string[]): Promise<void>
  /** Called after an append anywhere, soon but not surely: poll every second behind it. */
  onAppend(listener: () => void): Disposable
}

export interface ClaimedMessage extends OutboxMessage {
  /** How often it was claimed, this time included. */
  attempt: number
}
