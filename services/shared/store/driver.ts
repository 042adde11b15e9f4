import type { Fence } from './store.ts'

/**
 * The longest claim on a message. One that ends much later was made before the clock of the server was set back, and has ended: to
 * wait for its end would hold the message for as long as the step was.
 */
export const maxClaimMs = 60_000

/** The operations that differ between servers; `createStore` implements the rest. Failures of the server are `unavailable`. */
export interface Driver extends AsyncDisposable {
  readonly connected: boolean
  /** What is wrong with the server behind it, in words; undefined while nothing is. */
  readonly problem?: string | undefined
  /** Returns the values of these keys, in their order. */
  read(keys: readonly string[]): Promise<(StoredValue | undefined)[]>
  /** Applies the change atomically. */
  write(change: Change): Promise<WriteResult>
  /** Returns the new token; undefined while the lease is held. */
  takeLease(name: string, lengthMs: number): Promise<number | undefined>
  renewLease(fence: Fence, lengthMs: number): Promise<boolean>
  releaseLease(fence: Fence): Promise<void>
  /** `claimMs` is at most `maxClaimMs`. */
  claim(max: number, claimMs: number): Promise<ClaimedText[]>
  ack(ids: readonly string[]): Promise<void>
  /** Sets the end of the claims of these messages, relative to now; unclaimed messages are not changed. `claimMs` is at most `maxClaimMs`. */
  renew(ids: readonly string[], claimMs: number): Promise<void>
  /** Returns the ids that are in the outbox. */
  holds(ids: readonly string[]): Promise<string[]>
  /** Calls the listener after an append by any process, if the server sends notifications. */
  listen(wake: () => void): Promise<AsyncDisposable>
}

/** `version` changes with every write, so that a value that was changed back is not mistaken for an unchanged one. */
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

/** An atomic change of values, messages and acknowledgements. */
export interface Change {
  values: readonly ValueChange[]
  fence: Fence | undefined
  messages: readonly MessageText[]
  /** Ids of messages to acknowledge with the write. */
  acks: readonly string[]
  /** Ids of messages that must be in the outbox; otherwise the whole change is rejected. */
  needs: readonly string[]
  /** The writer claims its own messages for this long, without notification; undefined leaves them to the first claimer. */
  claimMs: number | undefined
  /** Maximum messages in the outbox; beyond it the whole change is rejected. */
  outboxLimit: number
}

/**
 * `changed`: a value has another version; `fenced`: a newer lease exists; `full`: the outbox is full; `gone`: a required message is missing.
 */
export type WriteResult = 'written' | 'changed' | 'fenced' | 'full' | 'gone'

/** A stored message. */
export interface MessageText {
  id: string
  text: string
}

/** A stored message that a process has claimed. */
export interface ClaimedText extends MessageText {
  attempt: number
}
