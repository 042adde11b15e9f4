import type { EventStatus } from '#proto/inbound-event.ts'

const meanings: Readonly<Record<EventStatus, readonly string[]>> = {
  firing: [
    'firing',
    'fire',
    'triggered',
    'trigger',
    'alerting',
    'alert',
    'active',
    'open',
    'opened',
    'problem',
    'down',
    'failed',
  ],
  acknowledged: ['acknowledged', 'acknowledge', 'ack', 'acked'],
  resolved: [
    'resolved',
    'resolve',
    'ok',
    'okay',
    'recovered',
    'recovery',
    'closed',
    'close',
    'cleared',
    'clear',
    'normal',
    'up',
  ],
  info: ['info', 'information', 'event', 'log', 'pending', 'suppressed'],
}

const meant = new Map(
  Object.entries(meanings).flatMap(([status, words]) => words.map((word) => [word, status] as const)),
)

/** What a sender's word for a status means here; undefined for a word that is not known. */
export const statusOf = (word: string | null | undefined): EventStatus | undefined =>
  // The map is made of the statuses.
  meant.get((word ?? '').trim().toLowerCase()) as EventStatus | undefined
