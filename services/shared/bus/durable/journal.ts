import type { StoredMessage } from './driver.ts'
import type { AnyStream } from './streams.ts'

/** Stores the messages of queues in memory for the next start of this process. */
export interface Journal extends AsyncDisposable {
  /** Returns the messages of an earlier process in order of arrival. */
  load(): Promise<JournalEntry[]>
  /** Resolves once the message is stored; throws `unavailable` if it cannot be stored. */
  keep(message: JournalEntry): Promise<void>
  /** Removes a message. A failed removal is retried later; otherwise the message is delivered again after a restart. */
  forget(key: string): Promise<void>
}

/** A stored message of a journal. */
export interface JournalEntry extends StoredMessage {
  /** Identifies this message; its id may occur again. */
  key: string
  stream: AnyStream
  /** Its number within the stream: the id of a dead letter. */
  sequence: number
  /** Epoch milliseconds of its arrival. */
  cameAtMs: number
  /** The consumers at its arrival; the message ends when all of them have handled it. */
  waiting: readonly string[]
}
