import type { Severity } from '#proto/rules.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import type { Measurement } from '../rules/measurement.ts'

type Thresholds = Pick<RuleDefinition, 'measure' | 'thresholds' | 'minimumSamples'>

/** Evaluates two consecutive measurements against the thresholds of a rule. */
export const evaluateMeasurements = (
  rule: Thresholds,
  before: Measurement,
  now: Measurement,
): { value: number; status: Severity | 'ok' } => {
  if (now.value === null || before.value === null) throw new Error(now.reason ?? before.reason ?? 'no measurement')
  const value = rule.measure === 'gauge' ? now.value : now.value - before.value
  const { warning, critical, below } = rule.thresholds
  const isPassed = (limit: number | null): boolean => limit !== null && (below ? value <= limit : value >= limit)
  if (now.samples !== null && now.samples < (rule.minimumSamples ?? 0)) return { value, status: 'ok' }
  if (isPassed(now.critical ?? critical)) return { value, status: 'critical' }
  return { value, status: isPassed(now.warning ?? warning) ? 'warning' : 'ok' }
}
