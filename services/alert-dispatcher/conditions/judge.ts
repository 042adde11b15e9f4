import type { Reading, Severity } from '#proto/rules.ts'
import type { CustomRule } from '../policy.ts'
import type { HostRecord } from './condition.ts'
import type { Limit, Watched } from './watched.ts'

/** What one sweep makes of one rule on one host. */
export interface Verdict {
  rule: Watched
  status: 'ok' | Severity | 'unknown'
  /** What was compared: the growth of a counter, else what was measured. */
  value: number | null
  /** The limit that was passed, else the next one. */
  threshold: number | null
  offenders: string[]
  /** Why it is unknown. */
  reason: string | null
}

/** What one sweep measured on one host. */
export interface Measured {
  /** By rule id, and by metric id where `metrics`. */
  readings: ReadonlyMap<string, Reading>
  metrics: ReadonlyMap<string, Reading>
  uptimeSeconds: number | null
}

type Before = Pick<HostRecord, 'conditions' | 'counters' | 'uptimeSeconds'>

/** Verdicts for all rules that were asked, those made of others last. */
export const judge = (asked: readonly Watched[], measured: Measured, before: Before | undefined): Verdict[] => {
  const isRestarted = hasRestarted(measured, before)
  const single = asked
    .filter(({ allOf }) => allOf.length === 0)
    .map((rule) => {
      const reading = rule.metric === null ? measured.readings.get(rule.id) : measured.metrics.get(rule.metric)
      return judgeReading(rule, reading, before, isRestarted)
    })
  const known = new Map(single.map((verdict) => [verdict.rule.id, verdict]))
  const compound = asked.filter(({ allOf }) => allOf.length > 0).map((rule) => judgeAll(rule, known, before))
  return [...single, ...compound]
}

/** Counters began anew, so what they said before is void. */
export const hasRestarted = ({ uptimeSeconds }: Measured, before: Before | undefined): boolean =>
  uptimeSeconds !== null && before?.uptimeSeconds != null && uptimeSeconds < before.uptimeSeconds

const judgeReading = (
  rule: Watched,
  reading: Reading | undefined,
  before: Before | undefined,
  isRestarted: boolean,
): Verdict => {
  if (reading === undefined) return unknown(rule, 'nothing was measured')
  if (reading.value === null) return unknown(rule, reading.reason ?? 'it could not be told')
  const value = rule.measure === 'gauge' ? reading.value : growth(rule, reading.value, before, isRestarted)
  if (typeof value === 'string') return unknown(rule, value)
  const warning = limitOf(rule.warning, reading.warning)
  const critical = limitOf(rule.critical, reading.critical)
  const isFewSamples = reading.samples !== null && reading.samples < (rule.minimumSamples ?? 0)
  const held = heldSeverity(rule, before)
  const status = isFewSamples ? 'ok' : statusOf(value, { rule, warning, critical, held })
  const threshold = status === 'critical' ? critical : (warning ?? critical)
  return { rule, status, value, threshold, offenders: status === 'ok' ? [] : reading.offenders, reason: null }
}

/** By how much it grew since it was measured last, or why that cannot be told. */
const growth = (rule: Watched, value: number, before: Before | undefined, isRestarted: boolean): number | string => {
  const previous = before?.counters[rule.id]
  if (previous === undefined) return 'it is judged from its second measurement on'
  if (isRestarted) return 'the server has restarted since the last measurement'
  if (rule.measure === 'counter' && value < previous) return 'the counter began anew since the last measurement'
  return value - previous
}

const limitOf = ({ at, isSettled }: Limit, ofServer: number | null): number | null =>
  isSettled ? at : (ofServer ?? at)

/** What a gauge must get clearly better than: only a condition that people may know of is held. */
const heldSeverity = ({ id, measure, clearRatio }: Watched, before: Before | undefined): Severity | null => {
  const condition = before?.conditions[id]
  return measure === 'gauge' && clearRatio < 1 && condition?.phase === 'firing' ? condition.severity : null
}

interface Limits {
  rule: Watched
  warning: number | null
  critical: number | null
  held: Severity | null
}

const statusOf = (value: number, { rule, warning, critical, held }: Limits): 'ok' | Severity => {
  const { operator, clearRatio } = rule
  if (passes(value, operator, held === 'critical' ? eased(critical, operator, clearRatio) : critical)) return 'critical'
  if (passes(value, operator, held ? eased(warning, operator, clearRatio) : warning)) return 'warning'
  return 'ok'
}

const passes = (value: number, operator: CustomRule['operator'], limit: number | null): boolean => {
  if (limit === null) return false
  if (operator === '>') return value > limit
  if (operator === '>=') return value >= limit
  return operator === '<' ? value < limit : value <= limit
}

/** The limit moved towards the better side by what the ratio leaves of it. */
const eased = (limit: number | null, operator: CustomRule['operator'], ratio: number): number | null => {
  if (limit === null) return null
  const room = Math.abs(limit) * (1 - ratio)
  return operator.startsWith('>') ? limit - room : limit + room
}

/** A rule made of others: 1 while all of them breach, 0 once one surely does not. */
const judgeAll = (rule: Watched, known: ReadonlyMap<string, Verdict>, before: Before | undefined): Verdict => {
  const parts = new Set(rule.allOf.map((part) => isBreached(part, known, before)))
  if (parts.has(false)) return compare(rule, 0)
  return parts.has(undefined) ? unknown(rule, 'one of the rules that it is made of is unknown') : compare(rule, 1)
}

const isBreached = (
  { rule, severity }: { rule: string; severity: Severity },
  known: ReadonlyMap<string, Verdict>,
  before: Before | undefined,
): boolean | undefined => {
  const verdict = known.get(rule)
  // Not asked on this sweep, or switched off: it is what it was.
  const status = verdict?.status ?? before?.conditions[rule]?.severity ?? 'ok'
  return status === 'unknown' ? undefined : status === 'critical' || status === severity
}

const compare = (rule: Watched, value: number): Verdict => {
  const limits = { rule, warning: rule.warning.at, critical: rule.critical.at, held: null }
  const threshold = rule.critical.at ?? rule.warning.at
  return { rule, status: statusOf(value, limits), value, threshold, offenders: [], reason: null }
}

const unknown = (rule: Watched, reason: string): Verdict => ({
  rule,
  status: 'unknown',
  value: null,
  threshold: null,
  offenders: [],
  reason,
})
