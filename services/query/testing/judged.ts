import type { Severity } from '#proto/rules.ts'
import type { RuleDefinition } from '#proto/rule-definition.ts'
import type { Measured } from '../rules/measured.ts'

type Judging = Pick<RuleDefinition, 'measure' | 'thresholds' | 'minimumSamples'>

/** What two measurements, one after another, amount to by the thresholds of a rule. */
export const judged = (rule: Judging, before: Measured, now: Measured): { value: number; status: Severity | 'ok' } => {
  if (now.value === null || before.value === null)
    throw new Error(now.reason ?? before.reason ?? 'nothing was measured')
  const value = rule.measure === 'gauge' ? now.value : now.value - before.value
  const { warning, critical, below } = rule.thresholds
  const isPassed = (limit: number | null): boolean => limit !== null && (below ? value <= limit : value >= limit)
  if (now.samples !== null && now.samples < (rule.minimumSamples ?? 0)) return { value, status: 'ok' }
  if (isPassed(now.critical ?? critical)) return { value, status: 'critical' }
  return { value, status: isPassed(now.warning ?? warning) ? 'warning' : 'ok' }
}
