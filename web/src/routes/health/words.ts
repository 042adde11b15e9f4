import { unitWords } from '#proto/unit-words.ts'
import type { Check, LiveCondition } from '#lib/api/health.ts'
import { counted } from '#lib/ui/counted.ts'
import { formatValue } from '#lib/ui/number.ts'

/** Why people are not told of something that is true. A newer service may know more words, which are shown as they are. */
const heldReasons: Readonly<Record<string, string>> = {
  disabled: 'alerts are switched off',
  maintenance: 'the host is under maintenance',
  'quiet-hours': 'these are quiet hours',
  severity: 'only more severe findings are told',
  'host-unreachable': 'the host does not answer, which is told instead',
  acknowledged: 'it is acknowledged',
  dismissed: 'it is dismissed',
}

export const heldReason = (word: string): string => heldReasons[word] ?? word

/** What a line of the history tells. */
const happenings: Readonly<Record<string, string>> = {
  fire: 'Fired',
  escalate: 'Became critical',
  lower: 'Became less severe',
  remind: 'Reminder sent',
  recover: 'Recovered',
  held: 'Nobody was told',
}

export const happening = (kind: string): string => happenings[kind] ?? kind
export const happeningKinds = Object.keys(happenings)

/** `10.3%, limit 5%`; `yes` where nothing is counted. */
export const valueAgainst = ({ value, threshold, unit }: Pick<LiveCondition, 'value' | 'threshold' | 'unit'>): string =>
  threshold === null || unitWords[unit]
    ? formatValue(value, unit)
    : `${formatValue(value, unit)}, limit ${formatValue(threshold, unit)}`

/** How a limit is passed: what is so or not so has none to go below or above. */
export const passedWord = ({ below, unit }: Pick<Check, 'below' | 'unit'>): string => {
  if (unitWords[unit]) return 'when'
  return below ? 'below' : 'from'
}

/** `warning from 5%, critical from 20%`; `below` where less is worse, `critical when yes` where nothing is counted. */
export const limitsOf = ({ warning, critical, below, unit }: Check): string => {
  const word = passedWord({ below, unit })
  const limits = Object.entries({ warning, critical }).filter(([, at]) => at !== null)
  return limits.map(([name, at]) => `${name} ${word} ${formatValue(at, unit)}`).join(', ') || 'no limit'
}

/** Fewer say themselves why. */
const fewestAlike = 4

/** The reason for which several checks could not be told, to be said once for all of them; null where each has its own. */
export const sharedReason = (
  checks: readonly Pick<Check, 'status' | 'reason'>[],
): { reason: string; checks: number } | null => {
  const unknown = checks.flatMap(({ status, reason }) => (status === 'unknown' && reason !== null ? [reason] : []))
  const counts = [...Map.groupBy(unknown, (reason) => reason)].map(([reason, { length }]) => ({
    reason,
    checks: length,
  }))
  const most = counts.toSorted((one, other) => other.checks - one.checks)[0]
  return most && most.checks >= fewestAlike ? most : null
}

/** `2 critical and 1 warning`. */
export const severitiesOf = (conditions: readonly Pick<LiveCondition, 'severity'>[]): string => {
  const critical = conditions.filter(({ severity }) => severity === 'critical').length
  const warning = conditions.length - critical
  return [critical > 0 && `${critical} critical`, warning > 0 && counted(warning, 'warning')]
    .filter(Boolean)
    .join(' and ')
}

const ranks = { firing: 0, pending: 2, cleared: 3 }

/** What needs somebody first: critical before warning, what fires before what may, the latest before what is known. */
export const byUrgency = (one: LiveCondition, other: LiveCondition): number => {
  const rank = ({ phase, severity }: LiveCondition) => ranks[phase] * 2 + (severity === 'critical' ? 0 : 1)
  return rank(one) - rank(other) || other.sinceMs - one.sinceMs || one.ruleId.localeCompare(other.ruleId)
}
