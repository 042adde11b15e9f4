import { unitValueMappings } from '#proto/unit-words.ts'
import type { Check, ActiveCondition } from '#lib/api/health.ts'
import { pluralize } from '#lib/ui/pluralize.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Texts for reasons why a notification is muted. Reasons without a text are shown unchanged. */
const muteReasons: Readonly<Record<string, string>> = {
  disabled: 'alerting is disabled',
  maintenance: 'the host is in maintenance',
  'quiet-hours': 'quiet hours are in effect',
  severity: 'below the minimum severity',
  'host-unreachable': 'the host is unreachable, which is reported instead',
  acknowledged: 'it is acknowledged',
  dismissed: 'it is dismissed',
}

export const formatMuteReason = (word: string): string => muteReasons[word] ?? word

/** Labels of history events, by event type. */
const eventLabels: Readonly<Record<string, string>> = {
  fire: 'Fired',
  escalate: 'Became critical',
  lower: 'Severity lowered',
  remind: 'Reminder sent',
  recover: 'Recovered',
  held: 'Not sent',
}

export const formatEventKind = (kind: string): string => eventLabels[kind] ?? kind
export const eventKinds = Object.keys(eventLabels)

/** Formats a value with its limit, for example `10.3%, limit 5%`. Boolean metrics have no limit, for example `yes`. */
export const formatValueWithLimit = ({
  value,
  threshold,
  unit,
}: Pick<ActiveCondition, 'value' | 'threshold' | 'unit'>): string =>
  threshold === null || unitValueMappings[unit]
    ? formatValue(value, unit)
    : `${formatValue(value, unit)}, limit ${formatValue(threshold, unit)}`

/** Returns the heading under which the page lists a condition. */
export const getSectionTitle = ({ phase, severity }: Pick<ActiveCondition, 'phase' | 'severity'>): string => {
  if (phase === 'pending') return 'Pending'
  if (phase === 'cleared') return 'Recovered'
  return severity === 'critical' ? 'Critical' : 'Warning'
}

/** Returns the word before a limit: `below`, `from`, or `when` for boolean metrics. */
export const formatComparisonWord = ({ below, unit }: Pick<Check, 'below' | 'unit'>): string => {
  if (unitValueMappings[unit]) return 'when'
  return below ? 'below' : 'from'
}

/** Formats limits, for example `warning from 5%, critical from 20%`, or `critical when yes` for boolean metrics. */
export const formatLimits = ({ warning, critical, below, unit }: Check): string => {
  const word = formatComparisonWord({ below, unit })
  const limits = Object.entries({ warning, critical }).filter(([, at]) => at !== null)
  return limits.map(([name, at]) => `${name} ${word} ${formatValue(at, unit)}`).join(', ') || 'no limits'
}

/** Minimum number of checks with the same reason. From this number, the page shows the reason once. */
const minChecksWithReason = 4

/** Returns the most common reason for missing data, so that the page shows it once; null if too few checks share it. */
export const findSharedReason = (
  checks: readonly Pick<Check, 'status' | 'reason'>[],
): { reason: string; checks: number } | null => {
  const unknown = checks.flatMap(({ status, reason }) => (status === 'unknown' && reason !== null ? [reason] : []))
  const counts = [...Map.groupBy(unknown, (reason) => reason)].map(([reason, { length }]) => ({
    reason,
    checks: length,
  }))
  const most = counts.toSorted((one, other) => other.checks - one.checks)[0]
  return most && most.checks >= minChecksWithReason ? most : null
}

/** Formats the number of conditions by severity, for example `2 critical and 1 warning`. */
export const formatSeverityCounts = (conditions: readonly Pick<ActiveCondition, 'severity'>[]): string => {
  const critical = conditions.filter(({ severity }) => severity === 'critical').length
  const warning = conditions.length - critical
  return [critical > 0 && `${critical} critical`, warning > 0 && pluralize(warning, 'warning')]
    .filter(Boolean)
    .join(' and ')
}

const phaseRanks = { firing: 0, pending: 2, cleared: 3 }

/** Compares conditions for sorting: firing before pending, then critical before warning, then latest first. */
export const compareUrgency = (one: ActiveCondition, other: ActiveCondition): number => {
  const rank = ({ phase, severity }: ActiveCondition) => phaseRanks[phase] * 2 + (severity === 'critical' ? 0 : 1)
  return rank(one) - rank(other) || other.sinceMs - one.sinceMs || one.ruleId.localeCompare(other.ruleId)
}
