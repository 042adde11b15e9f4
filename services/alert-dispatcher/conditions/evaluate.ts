import type { RuleReading, Severity } from '#proto/rules.ts'
import type { CustomRule } from '../policy.ts'
import type { HostRecord } from './condition.ts'
import type { RuleThreshold, MonitoredRule } from './monitored-rules.ts'

/** Evaluation of one rule on one host in one sweep. */
export interface RuleEvaluation {
  rule: MonitoredRule
  status: 'ok' | Severity | 'unknown'
  /** The compared value: the increase of a counter, else the measured value. */
  value: number | null
  /** The threshold that the value reached; if it reached none, the one that it would reach first. */
  threshold: number | null
  offenders: string[]
  /** Why there is no data; null if there is data. */
  reason: string | null
}

/** Measurements of one host in one sweep. */
export interface HostMeasurements {
  /** Readings of rules and of SQL rules by rule id, metric readings by metric id. */
  readings: ReadonlyMap<string, RuleReading>
  metrics: ReadonlyMap<string, RuleReading>
  uptimeSeconds: number | null
}

type PreviousState = Pick<HostRecord, 'conditions' | 'counters' | 'uptimeSeconds'>

/** Evaluates the rules of this sweep, compound rules last. */
export const evaluateDueRules = (
  rules: readonly MonitoredRule[],
  measured: HostMeasurements,
  before: PreviousState | undefined,
): RuleEvaluation[] => {
  const isRestarted = hasRestarted(measured, before)
  const single = rules
    .filter(({ allOf }) => allOf.length === 0)
    .map((rule) => {
      const reading = rule.metric === null ? measured.readings.get(rule.id) : measured.metrics.get(rule.metric)
      return evaluateReading(rule, reading, before, isRestarted)
    })
  const known = new Map(single.map((evaluation) => [evaluation.rule.id, evaluation]))
  const compound = rules.filter(({ allOf }) => allOf.length > 0).map((rule) => evaluateCompound(rule, known, before))
  return [...single, ...compound]
}

/** Returns whether the server restarted since the last sweep, which resets its counters. */
export const hasRestarted = ({ uptimeSeconds }: HostMeasurements, before: PreviousState | undefined): boolean =>
  uptimeSeconds !== null && before?.uptimeSeconds != null && uptimeSeconds < before.uptimeSeconds

const evaluateReading = (
  rule: MonitoredRule,
  reading: RuleReading | undefined,
  before: PreviousState | undefined,
  isRestarted: boolean,
): RuleEvaluation => {
  if (reading === undefined) return createUnknownEvaluation(rule, 'no data: nothing was measured')
  if (reading.value === null) return createUnknownEvaluation(rule, reading.reason ?? 'no data')
  const value = rule.measure === 'gauge' ? reading.value : computeIncrease(rule, reading.value, before, isRestarted)
  if (typeof value === 'string') return createUnknownEvaluation(rule, value)
  const warning = selectThreshold(rule.warning, reading.warning)
  const critical = selectThreshold(rule.critical, reading.critical)
  const isFewSamples = reading.samples !== null && reading.samples < (rule.minimumSamples ?? 0)
  const held = findHeldSeverity(rule, before)
  const status = isFewSamples ? 'ok' : computeStatus(value, { rule, warning, critical, held })
  // An incomplete reading can only be too low, so it is conclusive only if it breaches an upper threshold.
  const isCertain = status !== 'ok' && rule.operator.startsWith('>')
  if (reading.incomplete !== null && !isCertain) return createUnknownEvaluation(rule, `no data: ${reading.incomplete}`)
  const threshold = status === 'critical' ? critical : (warning ?? critical)
  return { rule, status, value, threshold, offenders: status === 'ok' ? [] : reading.offenders, reason: null }
}

/** Returns the increase since the last measurement, or the reason why there is none. */
const computeIncrease = (
  rule: MonitoredRule,
  value: number,
  before: PreviousState | undefined,
  isRestarted: boolean,
): number | string => {
  const previous = before?.counters[rule.id]
  if (previous === undefined) return 'no data: evaluated from the second measurement on'
  if (isRestarted) return 'no data: the server restarted since the last measurement'
  if (rule.measure === 'counter' && value < previous) return 'no data: the counter was reset since the last measurement'
  return value - previous
}

const selectThreshold = ({ at, isConfigured }: RuleThreshold, ofServer: number | null): number | null =>
  isConfigured ? at : (ofServer ?? at)

/**
 * Returns the severity that a firing gauge with a clear ratio keeps until its value passes the clear threshold. Null
 * for all other rules.
 */
const findHeldSeverity = (
  { id, measure, clearRatio }: MonitoredRule,
  before: PreviousState | undefined,
): Severity | null => {
  const condition = before?.conditions[id]
  return measure === 'gauge' && clearRatio < 1 && condition?.phase === 'firing' ? condition.severity : null
}

interface Limits {
  rule: MonitoredRule
  warning: number | null
  critical: number | null
  held: Severity | null
}

const computeStatus = (value: number, { rule, warning, critical, held }: Limits): 'ok' | Severity => {
  const { operator, clearRatio } = rule
  if (reaches(value, operator, held === 'critical' ? computeClearThreshold(critical, operator, clearRatio) : critical))
    return 'critical'
  if (reaches(value, operator, held ? computeClearThreshold(warning, operator, clearRatio) : warning)) return 'warning'
  return 'ok'
}

const reaches = (value: number, operator: CustomRule['operator'], limit: number | null): boolean => {
  if (limit === null) return false
  if (operator === '>') return value > limit
  if (operator === '>=') return value >= limit
  return operator === '<' ? value < limit : value <= limit
}

/** Returns the clear threshold: the limit, relaxed by `1 - ratio` of its absolute value. Null without a limit. */
const computeClearThreshold = (
  limit: number | null,
  operator: CustomRule['operator'],
  ratio: number,
): number | null => {
  if (limit === null) return null
  const room = Math.abs(limit) * (1 - ratio)
  return operator.startsWith('>') ? limit - room : limit + room
}

/** Evaluates a compound rule. Its value is 1 if all parts breach and 0 if any part does not. */
const evaluateCompound = (
  rule: MonitoredRule,
  known: ReadonlyMap<string, RuleEvaluation>,
  before: PreviousState | undefined,
): RuleEvaluation => {
  const parts = new Set(rule.allOf.map((part) => isBreached(part, known, before)))
  if (parts.has(false)) return evaluateCombinedValue(rule, 0)
  return parts.has(undefined)
    ? createUnknownEvaluation(rule, 'no data: a rule that it combines has no data')
    : evaluateCombinedValue(rule, 1)
}

const isBreached = (
  { rule, severity }: { rule: string; severity: Severity },
  known: ReadonlyMap<string, RuleEvaluation>,
  before: PreviousState | undefined,
): boolean | undefined => {
  const evaluation = known.get(rule)
  // A part that is not evaluated in this sweep keeps its last severity.
  const status = evaluation?.status ?? before?.conditions[rule]?.severity ?? 'ok'
  return status === 'unknown' ? undefined : status === 'critical' || status === severity
}

const evaluateCombinedValue = (rule: MonitoredRule, value: number): RuleEvaluation => {
  const limits = { rule, warning: rule.warning.at, critical: rule.critical.at, held: null }
  const threshold = rule.critical.at ?? rule.warning.at
  return { rule, status: computeStatus(value, limits), value, threshold, offenders: [], reason: null }
}

const createUnknownEvaluation = (rule: MonitoredRule, reason: string): RuleEvaluation => ({
  rule,
  status: 'unknown',
  value: null,
  threshold: null,
  offenders: [],
  reason,
})
