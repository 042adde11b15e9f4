import type { Condition } from './condition.ts'
import type { RuleEvaluation } from './evaluate.ts'
import { getHigherSeverity } from './monitored-rules.ts'

interface TransitionContext {
  nowMs: number
  newEpisode: () => string
}

/** Returns the condition after an evaluation; undefined if it is ok. No data leaves it unchanged. */
export const applyEvaluation = (
  before: Condition | undefined,
  evaluation: RuleEvaluation,
  now: TransitionContext,
): Condition | undefined => {
  if (evaluation.status === 'unknown') return before
  if (evaluation.status === 'ok') return before && applyOk(before, evaluation, now)
  if (before === undefined || before.phase === 'pending')
    return applyBreach(before ?? createCondition(evaluation, now), evaluation, now)
  return applyRepeatedBreach(before, evaluation, now)
}

/** Returns the closed condition of a rule that is no longer monitored; undefined if it was only pending. */
export const closeUnmonitoredCondition = (before: Condition): Condition | undefined =>
  before.phase === 'pending' ? undefined : { ...before, phase: 'cleared', clears: 0, breaches: 0 }

const createCondition = (
  { rule: { id, title, unit, runbook } }: RuleEvaluation,
  { nowMs, newEpisode }: TransitionContext,
): Condition => ({
  ruleId: id,
  episode: newEpisode(),
  title,
  unit,
  runbook,
  phase: 'pending',
  severity: 'warning',
  peak: 'warning',
  breaches: 0,
  clears: 0,
  value: null,
  threshold: null,
  offenders: [],
  sinceMs: nowMs,
  evaluatedAtMs: nowMs,
  lastNotification: null,
  sequence: 0,
  held: null,
  acknowledged: null,
  dismissed: null,
})

/** Counts a breach. After the configured number of breaches, the condition fires at the current severity. */
const applyBreach = (before: Condition, evaluation: RuleEvaluation, now: TransitionContext): Condition => {
  const breaches = before.breaches + 1
  const severity = evaluation.status === 'critical' ? 'critical' : 'warning'
  const seen = { ...applyMeasurement(before, evaluation, now), severity, peak: severity } as const
  return breaches < evaluation.rule.breaches ? { ...seen, breaches } : { ...seen, phase: 'firing', breaches: 0 }
}

const applyOk = (before: Condition, evaluation: RuleEvaluation, now: TransitionContext): Condition | undefined => {
  if (before.phase === 'pending') return undefined
  const seen = { ...applyMeasurement(before, evaluation, now), offenders: before.offenders, breaches: 0 }
  const clears = before.clears + 1
  return { ...seen, clears, phase: clears >= evaluation.rule.clears ? 'cleared' : before.phase }
}

/** Applies a breach to a firing condition. Only decreases and the first increase to critical take effect at once. */
const applyRepeatedBreach = (before: Condition, evaluation: RuleEvaluation, now: TransitionContext): Condition => {
  const seen = { ...applyMeasurement(before, evaluation, now), phase: 'firing', clears: 0 } as const
  if (evaluation.status === 'warning') {
    const lastNotification = before.lastNotification && { ...before.lastNotification, severity: 'warning' as const }
    return { ...seen, severity: 'warning', lastNotification, breaches: 0 }
  }
  const breaches = before.severity === 'critical' ? 0 : before.breaches + 1
  if (before.peak === 'critical' && breaches > 0 && breaches < evaluation.rule.breaches) return { ...seen, breaches }
  return { ...seen, severity: 'critical', peak: getHigherSeverity(before.peak, 'critical'), breaches: 0 }
}

const applyMeasurement = (
  before: Condition,
  { rule, value, threshold, offenders }: RuleEvaluation,
  { nowMs }: TransitionContext,
): Condition => ({
  ...before,
  title: rule.title,
  unit: rule.unit,
  runbook: rule.runbook,
  value,
  threshold,
  offenders,
  evaluatedAtMs: nowMs,
})
