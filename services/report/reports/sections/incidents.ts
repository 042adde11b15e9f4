import type { AlertHistoryEntry, Silence } from '#proto/alert-history.ts'
import type { HostReport, ReportedAlert } from '#proto/host-report.ts'

type Incidents = NonNullable<HostReport['incidents']>

const maxListed = 20
const minFlapCount = 3
/** The kinds of history lines that cause a notification. Lines of the kind `held` do not. */
const notifiedKinds = new Set(['fire', 'escalate', 'lower', 'remind', 'recover'])

/**
 * Returns the alerts of a period from the alert history. Alerts that fired before the period are included
 * if they have a history entry within the period.
 */
export const summarizeIncidents = (
  history: readonly AlertHistoryEntry[],
  acknowledged: readonly Silence[],
): Incidents => {
  const episodes = Map.groupBy(
    history.filter(({ kind }) => notifiedKinds.has(kind)),
    ({ episode }) => episode,
  )
  const list = [...episodes].map(([episode, lines]) =>
    toReportedIncident(lines, acknowledged.find((silence) => silence.episode === episode)?.by),
  )
  const fired = [...episodes.values()].filter((lines) => lines.some(({ kind }) => kind === 'fire'))
  const timesByTitle = Map.groupBy(fired, ([first]) => first?.title ?? '')
  return {
    total: list.length,
    fired: fired.length,
    critical: list.filter(({ severity }) => severity === 'critical').length,
    open: list.filter(({ endedAtMs }) => endedAtMs === null).length,
    flapping: [...timesByTitle].flatMap(([title, times]) => (times.length >= minFlapCount ? title : [])).toSorted(),
    list: list.toSorted(compareDurations).slice(0, maxListed),
  }
}

const toReportedIncident = (lines: readonly AlertHistoryEntry[], acknowledgedBy: string | undefined): ReportedAlert => {
  const [first] = lines
  return {
    ruleId: first?.ruleId ?? '',
    title: first?.title ?? '',
    severity: lines.some(({ severity }) => severity === 'critical') ? 'critical' : 'warning',
    sinceMs: Math.min(...lines.map(({ sinceMs }) => sinceMs)),
    endedAtMs: lines.find(({ kind }) => kind === 'recover')?.atMs ?? null,
    acknowledgedBy: acknowledgedBy ?? null,
  }
}

const getDurationMs = ({ sinceMs, endedAtMs }: ReportedAlert): number =>
  (endedAtMs ?? Number.MAX_SAFE_INTEGER) - sinceMs

const compareDurations = (one: ReportedAlert, other: ReportedAlert): number =>
  getDurationMs(other) - getDurationMs(one) || one.ruleId.localeCompare(other.ruleId, 'en')
