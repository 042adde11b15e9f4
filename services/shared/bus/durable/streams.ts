import type { StreamName } from './queue.ts'

/** How one stream keeps its messages. */
export interface StreamPlan {
  subjects: readonly string[]
  maxAgeMs: number
  maxBytes: number
  /** Messages that a consumer waits for are never dropped silently; of dead letters the newest matter most. */
  whenFull: 'refuse' | 'forget-oldest'
  /** An id that comes again within this time is known. */
  duplicateWindowMs: number
}

/** Every stream; dead letters are a stream of their own, which only the service that publishes to it reads. */
export type AnyStream = StreamName | 'EVENTS_DLQ'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
const mebibyte = 1024 * 1024

/** The streams of the product. */
export const streams: Readonly<Record<AnyStream, StreamPlan>> = {
  EVENTS: {
    subjects: ['inbound.>'],
    maxAgeMs: dayMs,
    maxBytes: 1024 * mebibyte,
    whenFull: 'refuse',
    // Senders of webhooks repeat themselves for 20 minutes.
    duplicateWindowMs: 20 * minuteMs,
  },
  EVENTS_DLQ: deadLetters('inbound.>'),
}

function deadLetters(subject: string): StreamPlan {
  return {
    subjects: [deadSubject(subject)],
    maxAgeMs: 30 * dayMs,
    maxBytes: 256 * mebibyte,
    whenFull: 'forget-oldest',
    duplicateWindowMs: 10 * minuteMs,
  }
}

/** Where a message of this subject is kept when it is given up. */
export function deadSubject(subject: string): string {
  return `dead.${subject}`
}

/** Which stream keeps the dead letters of a stream. */
export const deadStreamOf: Readonly<Record<StreamName, AnyStream>> = { EVENTS: 'EVENTS_DLQ' }

/** Which stream keeps a subject. */
export const streamOf = (subject: string): AnyStream => {
  const isKept = (pattern: string) => subject.startsWith(pattern.slice(0, -'>'.length))
  for (const name of streamNames) if (streams[name].subjects.some(isKept)) return name
  throw new Error(`no stream keeps ${subject}`)
}

/** Every name of a stream. */
export const streamNames = ['EVENTS', 'EVENTS_DLQ'] as const
