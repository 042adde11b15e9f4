import type { CustomRule, CustomRuleUpdate, SqlRule, SqlRuleUpdate } from '#lib/api/alerting.ts'
import type { FieldProblems } from '#lib/ui/form-problems.svelte.ts'
import { parseNumber } from '#lib/ui/parse-number.ts'
import { allHosts, parseScopeValue, toScopeValue } from './host-scope.ts'
import {
  findHostThresholdProblems,
  findNumberProblem,
  findOrderProblem,
  findSweepsProblem,
  type HostThresholdFields,
  toHostThresholdFields,
  toHostThresholds,
} from './thresholds.ts'

/** Form values that custom rules and SQL rules have in common. */
export interface OwnRuleFields {
  name: string
  operator: CustomRule['operator']
  warning: string
  critical: string
  hostThresholds: HostThresholdFields[]
  enabled: boolean
}

export interface CustomRuleFields extends OwnRuleFields {
  metric: string
}

export interface SqlRuleFields extends OwnRuleFields {
  sql: string
  unit: SqlRule['unit']
  summary: string
  scope: string
  breaches: string
  clears: string
}

export const operators: readonly CustomRule['operator'][] = ['>', '>=', '<', '<=']

const emptyRule: OwnRuleFields = {
  name: '',
  operator: '>',
  warning: '',
  critical: '',
  hostThresholds: [],
  enabled: true,
}
export const emptyCustomRule: CustomRuleFields = { ...emptyRule, metric: '' }
export const emptySqlRule: SqlRuleFields = {
  ...emptyRule,
  sql: '',
  unit: 'count',
  summary: '',
  scope: allHosts,
  breaches: '',
  clears: '',
}

const toOwnFields = ({ name, operator, warning, critical, hostThresholds, enabled }: CustomRule | SqlRule) => ({
  name,
  operator,
  warning: warning?.toString() ?? '',
  critical: critical?.toString() ?? '',
  hostThresholds: toHostThresholdFields(hostThresholds),
  enabled,
})

const toOwnBody = ({ name, operator, warning, critical, hostThresholds, enabled }: OwnRuleFields) => ({
  name,
  operator,
  warning: parseNumber(warning),
  critical: parseNumber(critical),
  ...(hostThresholds.length > 0 && { hostThresholds: toHostThresholds(hostThresholds) }),
  enabled,
})

export const toCustomRuleFields = (rule: CustomRule): CustomRuleFields => ({
  ...toOwnFields(rule),
  metric: rule.metric,
})

export const toCustomRuleBody = (typed: CustomRuleFields): CustomRuleUpdate => ({
  ...toOwnBody(typed),
  metric: typed.metric,
})

export const toSqlRuleFields = (rule: SqlRule): SqlRuleFields => ({
  ...toOwnFields(rule),
  sql: rule.sql,
  unit: rule.unit,
  summary: rule.summary,
  scope: toScopeValue(rule),
  breaches: rule.breaches?.toString() ?? '',
  clears: rule.clears?.toString() ?? '',
})

export const toSqlRuleBody = (typed: SqlRuleFields): SqlRuleUpdate => {
  const { sql, unit, summary, scope } = typed
  const [breaches, clears] = [parseNumber(typed.breaches), parseNumber(typed.clears)]
  return {
    ...toOwnBody(typed),
    sql,
    unit,
    summary,
    ...parseScopeValue(scope),
    ...(breaches !== null && { breaches }),
    ...(clears !== null && { clears }),
  }
}

const findOwnProblems = ({ name, operator, warning, critical, hostThresholds }: OwnRuleFields): FieldProblems => {
  const usual = { warning: parseNumber(warning), critical: parseNumber(critical), below: operator.startsWith('<') }
  const isWithout = warning.trim() === '' && critical.trim() === ''
  return {
    name: name.trim() === '' ? 'Enter a name' : undefined,
    warning: findNumberProblem(warning) ?? (isWithout ? 'Enter a warning or a critical threshold' : undefined),
    critical: findNumberProblem(critical) ?? findOrderProblem(usual),
    ...findHostThresholdProblems(hostThresholds, usual),
  }
}

/** Returns the problems of the form values of a custom rule, by field name. */
export const findCustomRuleProblems = (typed: CustomRuleFields): FieldProblems => ({
  ...findOwnProblems(typed),
  metric: typed.metric === '' ? 'Select a metric' : undefined,
})

/** Returns the problems of the form values of an SQL rule, by field name. The service checks the statement. */
export const findSqlRuleProblems = (typed: SqlRuleFields): FieldProblems => ({
  ...findOwnProblems(typed),
  sql: typed.sql.trim() === '' ? 'Enter a SELECT statement' : undefined,
  breaches: findSweepsProblem(typed.breaches),
  clears: findSweepsProblem(typed.clears),
})
