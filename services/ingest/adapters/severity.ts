import type { EventSeverity } from '#proto/inbound-event.ts'

const meanings: Readonly<Record<EventSeverity, readonly string[]>> = {
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
}

const meant = new Map(
  Object.entries(meanings).flatMap(([severity, words]) => words.map((word) => [word, severity] as const)),
)

/** What a sender's word for a severity means here, in the words of Alertmanager, Zabbix, syslog and pagers; null for others. */
export const severityOf = (word: string | null | undefined): EventSeverity | null => {
  const severity = meant.get((word ?? '').trim().toLowerCase())
  // The map is made of the severities.
  return (severity as EventSeverity | undefined) ?? null
}
