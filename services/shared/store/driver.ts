import type { Fence, Placed } from './store.ts'

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
  read(key: string): Promise<StoredValue | undefined>
  /** All of the change or nothing of it. */
  write(change: Change): Promise<WriteResult>
  /** The write, and what stands under another key right after it. */
  writeThenRead(change: Change, key: string): Promise<[WriteResult, StoredValue | undefined]>
  /** The new token, or `undefined` while the lease is held. */
  takeLease(name: string, lengthMs: number): Promise<number | undefined>
  renewLease(fence: Fence, lengthMs: number): Promise<boolean>
  releaseLease(fence: Fence): Promise<void>
  /** `claimMs` is at most `maxClaimMs`. */
  claim(max: number, claimMs: number): Promise<ClaimedText[]>
  ack(messages: readonly Placed[]): Promise<void>
  /** Where the messages of a key are kept. */
  placeOf(key: string): number
  /** Calls after an append by anybody, as far as the server tells. */
  listen(wake: () => void): Promise<AsyncDisposable>
}

/** `version` differs after every write, so that a value which came back is not mistaken for one that stayed. */
export interface StoredValue {
  version: string
  text: string
}

/** A write that stands only while `key` has the `expected` version; `undefined` means no value. */
export interface Change {
  key: string
  expected: string | undefined
  version: string
  text: string | undefined
  expiresInMs: number | undefined
  fence: Fence | undefined
  messages: readonly MessageText[]
  /** So long the writer has them for itself and nobody is told of them; absent leaves them to whoever comes first. */
  claimMs: number | undefined
  /** Messages that may wait at once; beyond it the change is refused whole. */
  outboxLimit: number
}

/** `changed`: the value was not as expected; `fenced`: a newer lease exists; `full`: the outbox is. */
export type WriteResult = 'written' | 'changed' | 'fenced' | 'full'

/** A message as it is stored. */
export interface MessageText {
  id: string
  text: string
}

/** A stored message that somebody has claimed. */
export interface ClaimedText extends MessageText, Placed {
  attempt: number
}
