import type { Fence } from './store.ts'

/**
 * Maximum length of a claim, in milliseconds. A claim that ends much later than this allows was made before the server
 * clock was set back. It counts as expired; otherwise its message would stay blocked until the clock catches up.
 */
export const maxClaimMs = 60_000

/**
 * The server-specific operations of a store; `createStore` implements the rest. Failures of the server throw
 * `unavailable`.
 */
export interface StoreDriver extends AsyncDisposable {
  readonly connected: boolean
  /** The problem of the server; undefined if there is none. */
  readonly problem?: string | undefined
  /** Returns the values of the keys in order; undefined for a key without a value. */
  read(keys: readonly string[]): Promise<(StoredValue | undefined)[]>
  /** Applies the change atomically. */
  write(change: StoreChange): Promise<WriteResult>
  /** Takes the lease and returns its new token; undefined while another process holds the lease. */
  takeLease(name: string, lengthMs: number): Promise<number | undefined>
  renewLease(fence: Fence, lengthMs: number): Promise<boolean>
  releaseLease(fence: Fence): Promise<void>
  /** Claims up to `max` messages for `claimMs`, oldest first. `claimMs` is at most `maxClaimMs`. */
  claim(max: number, claimMs: number): Promise<ClaimedOutboxMessage[]>
  ack(ids: readonly string[]): Promise<void>
  /**
   * Sets the end of the claims of these messages, relative to now. Unclaimed messages are not changed. `claimMs` is at
   * most `maxClaimMs`.
   */
  renew(ids: readonly string[], claimMs: number): Promise<void>
  /** Returns the ids that are in the outbox. */
  holds(ids: readonly string[]): Promise<string[]>
  /** Calls the listener after an append by any process, if the server sends notifications. */
  listen(wake: () => void): Promise<AsyncDisposable>
}

/** A stored value. Its version changes with every write, so that a changed and restored value is detected. */
export interface StoredValue {
  version: string
  text: string
}

/** A write of one key that applies only while the key has the `expected` version; undefined means no value. */
export interface ValueChange {
  key: string
  expected: string | undefined
  version: string
  text: string | undefined
  expiresInMs: number | undefined
}

/** An atomic change: writes values, appends messages and acknowledges others. */
export interface StoreChange {
  values: readonly ValueChange[]
  fence: Fence | undefined
  messages: readonly StoredOutboxMessage[]
  /** Ids of messages to acknowledge with the write. */
  acks: readonly string[]
  /** Ids of messages that must be in the outbox; otherwise the whole change is rejected. */
  needs: readonly string[]
  /** How long the writer claims the messages that it appends, in milliseconds; undefined leaves them to any claimer. */
  claimMs: number | undefined
  /** Maximum messages in the outbox; beyond it the whole change is rejected. */
  outboxLimit: number
}

/**
 * The result of a write. `changed`: a value has another version; `fenced`: a newer lease exists; `full`: the outbox is
 * full; `gone`: a required message is missing.
 */
export type WriteResult = 'written' | 'changed' | 'fenced' | 'full' | 'gone'

/** A stored message. */
export interface StoredOutboxMessage {
  id: string
  text: string
}

/** A stored message that a process has claimed. */
export interface ClaimedOutboxMessage extends StoredOutboxMessage {
  attempt: number
}
