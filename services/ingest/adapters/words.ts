import type { EventSeverity, EventStatus } from '#proto/inbound-event.ts'

/** Finds what a word means, in either case. */
const meaningsOf = <M extends string>(meanings: Readonly<Record<M, readonly string[]>>) => {
  const meant = new Map(
    Object.entries<readonly string[]>(meanings).flatMap(([meaning, words]) => words.map((word) => [word, meaning])),
  )
  // The map is made of the meanings.
  return (word: string | null | undefined) => meant.get((word ?? '').trim().toLowerCase()) as M | undefined
}

const severities = meaningsOf<EventSeverity>({
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

/** What a sender's word for a severity means here, in the words of Alertmanager, Zabbix, syslog and pagers; null for others. */
export const severityOf = (word: string | null | undefined): EventSeverity | null => severities(word) ?? null

/** What a sender's word for a status means here; undefined for a word that is not known. */
export const statusOf = meaningsOf<EventStatus>({
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
