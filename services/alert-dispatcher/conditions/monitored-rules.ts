import type { Unit } from '#proto/catalogue.ts'
import type { Rule, RuleMetric, Severity } from '#proto/rules.ts'
import type { Host } from '#proto/host.ts'
import { matchesPattern } from '../delivery/routing.ts'
import type { CustomRule, HostThresholds, Policy, SqlRule } from '../policy.ts'

/** A rule that sweeps evaluate, built-in or custom, with the configured overrides applied. */
export interface MonitoredRule {
  id: string
  title: string
  unit: Unit
  runbook: string
  measure: Rule['measure']
  /** The metric of a custom rule; null for other rules. */
  metric: string | null
  /** The statement of an SQL rule; null for other rules. */
  sql: string | null
  /** The hosts of an SQL rule; null for rules of all hosts. */
  scope: Pick<SqlRule, 'matchHost' | 'matchGroup'> | null
  /** Thresholds of some hosts; the first matching entry applies. */
  hostThresholds: readonly HostThresholds[]
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
    return isMonitored ? buildCustomRule(custom, metric.unit, policy) : []
  }),
  ...policy.sqlRules.flatMap((rule) => {
    const isMonitored = policy.rules[rule.id]?.enabled ?? rule.enabled
    return isMonitored ? buildSqlRule(rule, policy) : []
  }),
]

/** The properties of a host that rules match. */
type MatchedHost = Pick<Host, 'key' | 'name' | 'group'>

/** Returns the host with this key; without a name and a group if it is no longer listed. */
export const findHost = (hosts: readonly Host[], hostKey: string): MatchedHost =>
  hosts.find(({ key }) => key === hostKey) ?? { key: hostKey, name: hostKey, group: null }

/** Returns the rules that apply to a host, with its thresholds. */
export const selectHostRules = (rules: readonly MonitoredRule[], host: MatchedHost): readonly MonitoredRule[] =>
  rules.flatMap((rule) => {
    if (rule.scope !== null && !matchesHost(rule.scope, host)) return []
    const own = rule.hostThresholds.find((entry) => matchesHost(entry, host))
    if (own === undefined) return [rule]
    const override = (usual: RuleThreshold, at: number | null | undefined): RuleThreshold =>
      at === undefined ? usual : { at, isConfigured: true }
    return [{ ...rule, warning: override(rule.warning, own.warning), critical: override(rule.critical, own.critical) }]
  })

const matchesHost = (
  { matchHost, matchGroup }: Pick<SqlRule, 'matchHost' | 'matchGroup'>,
  { key, name, group }: MatchedHost,
): boolean =>
  (matchesPattern(name, matchHost) || matchesPattern(key, matchHost)) &&
  (matchGroup === '*' || (group !== null && matchesPattern(group, matchGroup)))

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
    sql: null,
    scope: null,
    hostThresholds: policy.rules[id]?.hostThresholds ?? [],
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

const buildCustomRule = (custom: CustomRule, unit: Unit, policy: Policy): MonitoredRule => ({
  ...buildOwnRule(custom, policy),
  unit,
  metric: custom.metric,
})

const buildSqlRule = (rule: SqlRule, policy: Policy): MonitoredRule => {
  const own = buildOwnRule(rule, policy)
  const { unit, summary, sql, matchHost, matchGroup } = rule
  return {
    ...own,
    unit,
    runbook: summary,
    sql,
    scope: { matchHost, matchGroup },
    breaches: policy.rules[rule.id]?.breaches ?? rule.breaches ?? policy.breaches,
    clears: policy.rules[rule.id]?.clears ?? rule.clears ?? policy.clears,
  }
}

/** Returns a rule of an operator without its measurement. */
const buildOwnRule = (custom: Omit<CustomRule, 'metric'>, policy: Policy): MonitoredRule => ({
  id: custom.id,
  title: custom.name,
  unit: 'none',
  runbook: '',
  measure: 'gauge',
  metric: null,
  sql: null,
  scope: null,
  // An override of a file or of the API replaces the entries of the rule itself.
  hostThresholds: policy.rules[custom.id]?.hostThresholds ?? custom.hostThresholds ?? [],
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
