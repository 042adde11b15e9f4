import type { Unit } from '#proto/catalogue.ts'
import type { Rule, RuleMetric, Severity } from '#proto/rules.ts'
import type { CustomRule, Policy } from '../policy.ts'

/** One rule as it is judged: a rule of the catalogue or of an operator, with all that operators have settled about it. */
export interface Watched {
  id: string
  title: string
  unit: Unit
  runbook: string
  measure: Rule['measure']
  /** Set for rules of operators, which judge a metric. */
  metric: string | null
  operator: CustomRule['operator']
  warning: Limit
  critical: Limit
  clearRatio: number
  minimumSamples: number | null
  allOf: Rule['allOf']
  breaches: number
  clears: number
  everySweeps: number
  /** About no host: watched with the first of the list alone. */
  once: boolean
}

/** Where a severity begins; what an operator has settled goes before what the server's own settings say. */
export interface Limit {
  at: number | null
  isSettled: boolean
}

/** What is watched, which is what is not switched off. */
export const watchedRules = (
  { rules, metrics }: { rules: readonly Rule[]; metrics: readonly RuleMetric[] },
  policy: Policy,
): Watched[] => [
  ...rules.flatMap((rule) => (isOn(rule, policy) ? fromCatalogue(rule, policy) : [])),
  ...policy.custom.flatMap((custom) => {
    const metric = metrics.find(({ id }) => id === custom.metric)
    const isWatched = metric && (policy.rules[custom.id]?.enabled ?? custom.enabled)
    return isWatched ? fromOperator(custom, metric, policy) : []
  }),
]

const isOn = ({ id, enabled }: Rule, policy: Policy): boolean => policy.rules[id]?.enabled ?? enabled

const fromCatalogue = (rule: Rule, policy: Policy): Watched => {
  const { id, title, unit, runbook, measure, clearRatio, minimumSamples, allOf, everySweeps, thresholds, once } = rule
  return {
    id,
    title,
    unit,
    runbook,
    measure,
    metric: null,
    operator: thresholds.below ? '<=' : '>=',
    warning: limitOf(thresholds.warning, policy.rules[id]?.warning),
    critical: limitOf(thresholds.critical, policy.rules[id]?.critical),
    clearRatio,
    minimumSamples,
    allOf,
    breaches: policy.rules[id]?.breaches ?? rule.breaches ?? policy.breaches,
    clears: policy.rules[id]?.clears ?? rule.clears ?? policy.clears,
    everySweeps,
    once,
  }
}

const fromOperator = (custom: CustomRule, { unit }: RuleMetric, policy: Policy): Watched => ({
  id: custom.id,
  title: custom.name,
  unit,
  runbook: '',
  measure: 'gauge',
  metric: custom.metric,
  operator: custom.operator,
  warning: limitOf(custom.warning, policy.rules[custom.id]?.warning),
  critical: limitOf(custom.critical, policy.rules[custom.id]?.critical),
  clearRatio: 1,
  minimumSamples: null,
  allOf: [],
  breaches: policy.rules[custom.id]?.breaches ?? policy.breaches,
  clears: policy.rules[custom.id]?.clears ?? policy.clears,
  everySweeps: 1,
  once: false,
})

const limitOf = (own: number | null, settled: number | undefined): Limit =>
  settled === undefined ? { at: own, isSettled: false } : { at: settled, isSettled: true }

/** Of two severities the worse one. */
export const worse = (one: Severity, other: Severity): Severity => (one === 'critical' ? one : other)
