import type { StoredMessage } from './driver.ts'
import type { AnyStreamName } from './streams.ts'

/** Persists the messages of in-memory queues, so that they survive a restart of the process. */
export interface Journal extends AsyncDisposable {
  /** Returns the messages of the previous process in order of arrival. */
  load(): Promise<JournalEntry[]>
  /** Resolves once the message is stored; throws `unavailable` if it cannot be stored. */
  keep(message: JournalEntry): Promise<void>
  /** Removes a message. A failed removal is retried later; until it succeeds, a restart delivers the message again. */
  forget(key: string): Promise<void>
}

/** A stored message of a journal. */
export interface JournalEntry extends StoredMessage {
  /** Unique key of this entry; the id of a message may be published again later. */
  key: string
  stream: AnyStreamName
  /** The sequence number of the message in its stream; for a dead letter, its id. */
  sequence: number
  /** Time of arrival, in epoch milliseconds. */
  cameAtMs: number
  /** The consumers that existed when the message arrived. The entry is removed when all of them have handled it. */
  waiting: readonly string[]
}
