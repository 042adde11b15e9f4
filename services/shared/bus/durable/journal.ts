import type { StoredMessage } from './driver.ts'
import type { AnyStream } from './streams.ts'

/** Keeps what waits in memory for the next start of this process. */
export interface Journal extends AsyncDisposable {
  /** What an earlier process left, in the order in which it came. */
  load(): Promise<JournalEntry[]>
  /** Resolves once the message is kept; throws `unavailable` where that cannot be had. */
  keep(message: JournalEntry): Promise<void>
  /** Resolves once the message is forgotten; one that cannot be forgotten now is forgotten later, or comes again after a restart. */
  forget(key: string): Promise<void>
}

/** A message as it outlives its process. */
export interface JournalEntry extends StoredMessage {
  /** Names this message and no other; its id may come again. */
  key: string
  stream: AnyStream
  /** Its number within the stream: the id of a dead letter. */
  sequence: number
  /** Epoch milliseconds of when it came. */
  cameAtMs: number
  /** Consumers that there were when it came: it ends when each of them has dealt with it. */
  waiting: readonly string[]
}
