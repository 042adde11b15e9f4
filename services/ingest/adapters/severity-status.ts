import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'

/** Returns a case-insensitive lookup from words to their meaning. */
const createWordLookup = <M extends string>(meanings: Readonly<Record<M, readonly string[]>>) => {
  const meaningByWord = new Map(
    Object.entries<readonly string[]>(meanings).flatMap(([meaning, words]) => words.map((word) => [word, meaning])),
  )
  // All values of the map are keys of `meanings`.
  return (word: string | null | undefined) => meaningByWord.get((word ?? '').trim().toLowerCase()) as M | undefined
}

const findSeverity = createWordLookup<EventSeverity>({
  critical: [
    'critical',
    'crit',
    'fatal',
    'disaster',
    'emergency',
    'emerg',
    'alert',
    'page',
    'p1',
    'p2',
    'sev1',
    'sev2',
  ],
  warning: ['warning', 'warn', 'high', 'error', 'err', 'major', 'average', 'minor', 'medium', 'p3', 'sev3'],
  info: [
    'info',
    'information',
    'informational',
    'notice',
    'low',
    'debug',
    'trace',
    'none',
    'ok',
    'success',
    'p4',
    'p5',
  ],
})

/** Returns the severity of a word used by Alertmanager, Zabbix, syslog or paging services; null if unknown. */
export const parseSeverity = (word: string | null | undefined): EventSeverity | null => findSeverity(word) ?? null

/** Returns the status for a word that senders use; undefined if unknown. */
export const parseStatus = createWordLookup<EventStatus>({
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
    'failure',
    'failing',
    'unhealthy',
    'degraded',
    'outage',
    'unreachable',
    'timed_out',
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
    'success',
    'succeeded',
    'successful',
    'passed',
    'completed',
    'healthy',
    'fixed',
  ],
  info: [
    'info',
    'information',
    'event',
    'log',
    'pending',
    'suppressed',
    'queued',
    'running',
    'in_progress',
    'started',
    'cancelled',
  ],
})
