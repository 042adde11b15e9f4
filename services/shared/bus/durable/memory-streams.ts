import { systemClock } from '../../time/clock.ts'
import type { Logger } from 'pino'
import type { QueueDriver } from './driver.ts'
import type { Journal, JournalEntry } from './journal.ts'
import type { QueueLimits } from './limits.ts'
import { type StreamEntry, MemoryStream } from './memory-stream.ts'
import { type AnyStreamName, streamConfigs } from './streams.ts'

/** All streams of a process. */
export type MemoryStreams = Readonly<Record<AnyStreamName, MemoryStream>>

/** Maximum bytes of a stream in memory; streams on disk may be larger. */
const maxMemoryBytes = 64 * 1024 * 1024

/** Creates empty streams, which call `ended` for each message that they remove. */
export const openMemoryStreams = (limits: QueueLimits, ended?: (message: StreamEntry) => void): MemoryStreams => {
  const open = (name: AnyStreamName) =>
    new MemoryStream({
      ...streamConfigs[name],
      name,
      maxBytes: Math.min(limits.maxBytes[name], maxMemoryBytes),
      duplicateWindowMs: limits.duplicateWindowMs[name],
      ...(ended && { ended }),
    })
  return { EVENTS: open('EVENTS'), EVENTS_DLQ: open('EVENTS_DLQ') }
}

/** Converts an entry of a journal to an entry of a stream. */
export const toStreamEntry = ({ cameAtMs, waiting, stream: _stream, ...message }: JournalEntry): StreamEntry => ({
  ...message,
  atMs: systemClock.elapsedMs() - Math.max(0, systemClock.now() - cameAtMs),
  waiting: new Set(waiting),
})

/** A function that stores a message in a stream. */
export type StoreMessage = QueueDriver['store']

/** Returns a function that stores messages in memory only. */
export const storeInMemory =
  (kept: MemoryStreams): StoreMessage =>
  async (name, message) => {
    const admitted = kept[name].admit(message)
    if (admitted) kept[name].add(admitted)
    return { duplicate: !admitted }
  }

/**
 * Returns a function that stores messages in the journal and then in memory. A message is delivered only after it is in
 * the journal; otherwise it could be handled first and be delivered again after a restart.
 */
export const storeWithJournal = (kept: MemoryStreams, journal: Journal, log: Logger | undefined): StoreMessage => {
  const underWay = new Map<string, Promise<void>>()
  const keep = async (stream: AnyStreamName, message: StreamEntry) => {
    try {
      await journal.keep(toJournalEntry(stream, message))
    } catch (error) {
      // Senders retry rejected events, so events are rejected while the database is unavailable.
      if (stream === 'EVENTS') {
        kept[stream].refuse(message)
        throw error
      }
      log?.warn({ err: error, stream }, 'message stored in memory only; a restart would lose it')
    }
    kept[stream].add(message)
  }
  return async (name, message) => {
    const admitted = kept[name].admit(message)
    const key = `${name} ${message.id}`
    if (!admitted) {
      // Waits for the first message with this id, because storing it may still fail.
      await underWay.get(key)
      return { duplicate: true }
    }
    const keeping = keep(name, admitted).finally(() => underWay.delete(key))
    underWay.set(key, keeping)
    await keeping
    return { duplicate: false }
  }
}

const toJournalEntry = (stream: AnyStreamName, { atMs, waiting, ...message }: StreamEntry): JournalEntry => ({
  ...message,
  stream,
  cameAtMs: Math.round(systemClock.now() - (systemClock.elapsedMs() - atMs)),
  waiting: [...waiting],
})
