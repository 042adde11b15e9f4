import type { Unit } from '#proto/catalogue.ts'
import type { Rule, RuleMetric, Severity } from '#proto/rules.ts'
import type { CustomRule, Policy } from '../policy.ts'

/** A rule that sweeps evaluate, built-in or custom, with the configured overrides applied. */
export interface MonitoredRule {
  id: string
  title: string
  unit: Unit
  runbook: string
  measure: Rule['measure']
  /** The metric of a custom rule; null for built-in rules. */
  metric: string | null
  operator: CustomRule['operator']
  warning: RuleThreshold
  critical: RuleThreshold
  clearRatio: number
  minimumSamples: number | null
  allOf: Rule['allOf']
  breaches: number
  clears: number
  everySweeps: number
  /** Whether the rule does not depend on the host. It is then evaluated once per sweep, with the first host. */
  once: boolean
}

/** Threshold of one severity; `at` is null if there is none. */
export interface RuleThreshold {
  at: number | null
  /** Whether an override sets the threshold. If so, it takes precedence over a threshold that the server reports. */
  isConfigured: boolean
}

/** Returns the enabled rules with their overrides. */
export const selectMonitoredRules = (
  { rules, metrics }: { rules: readonly Rule[]; metrics: readonly RuleMetric[] },
  policy: Policy,
): MonitoredRule[] => [
  ...rules.flatMap((rule) => (isRuleEnabled(rule, policy) ? buildCatalogueRule(rule, policy) : [])),
  ...policy.custom.flatMap((custom) => {
    const metric = metrics.find(({ id }) => id === custom.metric)
    const isMonitored = metric && (policy.rules[custom.id]?.enabled ?? custom.enabled)
    return isMonitored ? buildCustomRule(custom, metric, policy) : []
  }),
]

const isRuleEnabled = ({ id, enabled }: Rule, policy: Policy): boolean => policy.rules[id]?.enabled ?? enabled

const buildCatalogueRule = (rule: Rule, policy: Policy): MonitoredRule => {
  const { id, title, unit, runbook, measure, clearRatio, minimumSamples, allOf, everySweeps, thresholds, once } = rule
  return {
    id,
    title,
    unit,
    runbook,
    measure,
    metric: null,
    operator: thresholds.below ? '<=' : '>=',
    warning: resolveThreshold(thresholds.warning, policy.rules[id]?.warning),
    critical: resolveThreshold(thresholds.critical, policy.rules[id]?.critical),
    clearRatio,
    minimumSamples,
    allOf,
    breaches: policy.rules[id]?.breaches ?? rule.breaches ?? policy.breaches,
    clears: policy.rules[id]?.clears ?? rule.clears ?? policy.clears,
    everySweeps,
    once,
  }
}

const buildCustomRule = (custom: CustomRule, { unit }: RuleMetric, policy: Policy): MonitoredRule => ({
  id: custom.id,
  title: custom.name,
  unit,
  runbook: '',
  measure: 'gauge',
  metric: custom.metric,
  operator: custom.operator,
  warning: resolveThreshold(custom.warning, policy.rules[custom.id]?.warning),
  critical: resolveThreshold(custom.critical, policy.rules[custom.id]?.critical),
  clearRatio: 1,
  minimumSamples: null,
  allOf: [],
  breaches: policy.rules[custom.id]?.breaches ?? policy.breaches,
  clears: policy.rules[custom.id]?.clears ?? policy.clears,
  everySweeps: 1,
  once: false,
})

const resolveThreshold = (own: number | null, overrides: number | undefined): RuleThreshold =>
  overrides === undefined ? { at: own, isConfigured: false } : { at: overrides, isConfigured: true }

/** Returns the higher of two severities. */
export const getHigherSeverity = (one: Severity, other: Severity): Severity => (one === 'critical' ? one : other)
