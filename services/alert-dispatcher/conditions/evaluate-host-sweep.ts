import type { RuleCheck, Condition, HostRecord } from './condition.ts'
import type { NotifyContext } from './hold-reasons.ts'
import { type HostMeasurements, type RuleEvaluation, hasRestarted, evaluateDueRules } from './evaluate.ts'
import { type NotifyResult, recordTransition, collectDueNotifications } from './notify.ts'
import { applyEvaluation, closeUnmonitoredCondition } from './transition.ts'
import type { MonitoredRule } from './monitored-rules.ts'

interface DecideContext extends NotifyContext {
  /** Every monitored rule; conditions of other rules are closed. */
  watched: readonly MonitoredRule[]
  /** The rules that this sweep evaluates. */
  dueRules: readonly MonitoredRule[]
  measured: HostMeasurements
  newEpisode: () => string
}

/** The result of a sweep for one host: its new record, the evaluations and the due notifications. */
export interface HostSweepDecision extends Omit<NotifyResult, 'conditions'> {
  record: HostRecord
  evaluations: RuleEvaluation[]
}

/** Record of a host that was never swept. */
export const emptyHostRecord: HostRecord = { conditions: {}, checks: {}, counters: {}, uptimeSeconds: null }

/**
 * Evaluates the measurements, updates the conditions and returns the due notifications. The function is pure, so that a
 * retried write can call it again.
 */
export const evaluateHostSweep = (before: HostRecord | undefined, context: DecideContext): HostSweepDecision => {
  const { dueRules, measured, nowMs } = context
  const known = before ?? emptyHostRecord
  const evaluations = evaluateDueRules(dueRules, measured, before)
  const updated = updateConditions(known.conditions, evaluations, context)
  const { conditions, ...notified } = collectDueNotifications(updated, context)
  const lowered: Pick<NotifyResult, 'episodes' | 'transitions'> = { episodes: [], transitions: [] }
  for (const condition of Object.values(conditions)) {
    if (isLowered(known.conditions[condition.ruleId], condition))
      recordTransition('lower', condition, 'severity decreased to warning', context, lowered)
  }
  return {
    ...notified,
    episodes: [...lowered.episodes, ...notified.episodes],
    transitions: [...lowered.transitions, ...notified.transitions],
    evaluations,
    record: {
      conditions,
      checks: collectChecks(known, evaluations, context.watched, nowMs),
      counters: collectCounters(known, context),
      uptimeSeconds: measured.uptimeSeconds ?? known.uptimeSeconds,
    },
  }
}

const updateConditions = (
  before: HostRecord['conditions'],
  evaluations: readonly RuleEvaluation[],
  { watched, nowMs, newEpisode }: DecideContext,
): HostRecord['conditions'] => {
  const isMonitored = new Set(watched.map(({ id }) => id))
  const monitored = Object.values(before).map((condition) =>
    isMonitored.has(condition.ruleId) ? condition : closeUnmonitoredCondition(condition),
  )
  const after = new Map(monitored.flatMap((condition) => (condition ? [[condition.ruleId, condition] as const] : [])))
  for (const evaluation of evaluations) {
    const { id } = evaluation.rule
    const next = applyEvaluation(after.get(id), evaluation, { nowMs, newEpisode })
    if (next) after.set(id, next)
    else after.delete(id)
  }
  return Object.fromEntries(after)
}

const isLowered = (before: Condition | undefined, after: Condition): boolean =>
  before?.phase === 'firing' && before.severity === 'critical' && after.severity === 'warning'

/** Returns the checks of this sweep, and the previous ones for rules that it did not evaluate. */
const collectChecks = (
  known: HostRecord,
  evaluations: readonly RuleEvaluation[],
  watched: readonly MonitoredRule[],
  nowMs: number,
): HostRecord['checks'] => {
  const fresh = new Map<string, RuleCheck>(
    evaluations.map(({ rule, status, value, reason }) => [rule.id, { status, value, reason, atMs: nowMs }]),
  )
  return Object.fromEntries(
    watched.flatMap(({ id }) => {
      const check = fresh.get(id) ?? known.checks[id]
      return check ? [[id, check]] : []
    }),
  )
}

/** Returns the last counter values; after a server restart, earlier values are dropped. */
const collectCounters = (known: HostRecord, { watched, dueRules, measured }: DecideContext): HostRecord['counters'] => {
  const isRestarted = hasRestarted(measured, known)
  const dueIds = new Set(dueRules.map(({ id }) => id))
  return Object.fromEntries(
    watched.flatMap(({ id, measure }) => {
      if (measure === 'gauge') return []
      const value =
        (dueIds.has(id) ? measured.readings.get(id)?.value : null) ?? (isRestarted ? null : known.counters[id])
      return value == null ? [] : [[id, value]]
    }),
  )
}
