import type { StreamName } from './queue.ts'

/** The configuration of a stream. */
export interface StreamConfig {
  subjects: readonly string[]
  maxAgeMs: number
  maxBytes: number
  /** Whether a full stream rejects new messages, so that none is lost silently, or drops the oldest ones. */
  whenFull: 'refuse' | 'forget-oldest'
  /** Window in which a repeated id is a duplicate. */
  duplicateWindowMs: number
}

/**
 * The name of any stream. Dead letters have their own stream, which only the service that published the messages reads.
 */
export type AnyStreamName = StreamName | 'EVENTS_DLQ'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const bytesPerMebibyte = 1024 * 1024

/** The configurations of all streams. */
export const streamConfigs: Readonly<Record<AnyStreamName, StreamConfig>> = {
  EVENTS: {
    subjects: ['inbound.>'],
    maxAgeMs: dayMs,
    maxBytes: 1024 * bytesPerMebibyte,
    whenFull: 'refuse',
    // Senders of webhooks retry for 20 minutes.
    duplicateWindowMs: 20 * minuteMs,
  },
  EVENTS_DLQ: createDeadLetterStreamConfig('inbound.>'),
}

function createDeadLetterStreamConfig(subject: string): StreamConfig {
  return {
    subjects: [formatDeadLetterSubject(subject)],
    maxAgeMs: 30 * dayMs,
    maxBytes: 256 * bytesPerMebibyte,
    whenFull: 'forget-oldest',
    duplicateWindowMs: 10 * minuteMs,
  }
}

/** Returns the subject of the dead letter for a message with this subject. */
export function formatDeadLetterSubject(subject: string): string {
  return `dead.${subject}`
}

/** The dead-letter stream of each stream. */
export const deadLetterStreams: Readonly<Record<StreamName, AnyStreamName>> = { EVENTS: 'EVENTS_DLQ' }

/** Returns the stream that stores a subject. */
export const findStreamName = (subject: string): AnyStreamName => {
  const isKept = (pattern: string) => subject.startsWith(pattern.slice(0, -'>'.length))
  for (const name of streamNames) if (streamConfigs[name].subjects.some(isKept)) return name
  throw new Error(`no stream stores subject "${subject}"`)
}

/** All stream names. */
export const streamNames = ['EVENTS', 'EVENTS_DLQ'] as const
