import type { Fence } from './store.ts'

/**
 * The longest claim on a message. One that ends much later was made before the clock of the server was set back, and has ended: to
 * wait for its end would hold the message for as long as the step was.
 */
export const maxClaimMs = 60_000

/** What one kind of server must do; everything else of a store is written once above it. Failures of the server are `unavailable`. */
export interface Driver extends AsyncDisposable {
  readonly connected: boolean
  /** What is wrong with the server behind it, in words; undefined while nothing is. */
  readonly problem?: string | undefined
  /** Returns the values of these keys, in their order. */
  read(keys: readonly string[]): Promise<(StoredValue | undefined)[]>
  /** All of the change or nothing of it. */
  write(change: Change): Promise<WriteResult>
  /** The new token, or `undefined` while the lease is held. */
  takeLease(name: string, lengthMs: number): Promise<number | undefined>
  renewLease(fence: Fence, lengthMs: number): Promise<boolean>
  releaseLease(fence: Fence): Promise<void>
  /** `claimMs` is at most `maxClaimMs`. */
  claim(max: number, claimMs: number): Promise<ClaimedText[]>
  ack(ids: readonly string[]): Promise<void>
  /** Sets when claims of these messages end, counted from now; unclaimed messages stay so. `claimMs` is at most `maxClaimMs`. */
  renew(ids: readonly string[], claimMs: number): Promise<void>
  /** Those of the ids that are in the outbox. */
  holds(ids: readonly string[]): Promise<string[]>
  /** Calls the listener after an append by any process, as far as the server notifies. */
  listen(wake: () => void): Promise<AsyncDisposable>
}

/** `version` differs after every write, so that a value which came back is not mistaken for one that stayed. */
export interface StoredValue {
  version: string
  text: string
}

/** A write of one key that applies only while `key` has the `expected` version; `undefined` means no value. */
export interface ValueChange {
  key: string
  expected: string | undefined
  version: string
  text: string | undefined
  expiresInMs: number | undefined
}

/** Values, messages and acknowledgements that are written together. */
export interface Change {
  values: readonly ValueChange[]
  fence: Fence | undefined
  messages: readonly MessageText[]
  /** Ids of messages that end with the write. */
  acks: readonly string[]
  /** Ids of messages that must be in the outbox; without one of them the change is refused whole. */
  needs: readonly string[]
  /** So long the writer has its messages for itself and no listener is called; absent leaves them to the first claimer. */
  claimMs: number | undefined
  /** Messages that may wait at once; beyond it the change is refused whole. */
  outboxLimit: number
}

/**
 * `changed`: a value was not as expected; `fenced`: a newer lease exists; `full`: the outbox is; `gone`: it lacks a message that the
 * change needs.
 */
export type WriteResult = 'written' | 'changed' | 'fenced' | 'full' | 'gone'

/** A message as it is stored. */
export interface MessageText {
  id: string
  text: string
}

/** A stored message that a process has claimed. */
export interface ClaimedText extends MessageText {
  attempt: number
}
