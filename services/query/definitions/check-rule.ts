import type { MetricDefinition, RuleDefinition } from '#proto/rule-definition.ts'
import { evaluators } from '../rules/evaluators/index.ts'
import { anyScope, checkSql } from './check.ts'
import type { Scope } from './macros.ts'
import { endOfNow } from './window.ts'

/** What no schema can say about a rule. Sentences begin with the key that is wrong. */
export const checkRule = (rule: RuleDefinition): string[] => [
  ...checkSource(rule),
  ...checkThresholds(rule),
  ...(rule.columns.includes('measured') ? [] : ['columns: measured must be among them']),
  ...(rule.sql === undefined ? [] : checkSql(rule.sql, ruleScope(rule))),
  ...(rule.diagnostic === undefined ? [] : checkSql(rule.diagnostic, ruleScope(rule), 'diagnostic')),
]

export const checkMetric = (metric: MetricDefinition): string[] => checkSql(metric.sql, ruleScope(metric))

/** What the macros of a rule stand for, on a server with these logs. */
export const ruleScope = (
  { lastMinutes }: Pick<RuleDefinition, 'lastMinutes'>,
  logs = anyScope.logs,
  withValues = false,
): Scope => ({
  ...anyScope,
  logs,
  withValues,
  window:
    lastMinutes === undefined
      ? undefined
      : { interval: undefined, since: `(now() - toIntervalMinute(${lastMinutes}))`, until: endOfNow },
})

const checkSource = ({ sql, evaluator, allOf, minimumSamples, columns }: RuleDefinition): string[] => {
  const sources = [sql, evaluator, allOf].filter((source) => source !== undefined)
  if (sources.length !== 1) return ['sql: a rule has exactly one of sql, evaluator and allOf']
  if (evaluator !== undefined && !Object.hasOwn(evaluators, evaluator))
    return [`evaluator: there is no ${evaluator}; there are ${Object.keys(evaluators).join(', ')}`]
  if (minimumSamples !== undefined && !columns.includes('samples')) return ['columns: minimumSamples needs samples']
  return []
}

const checkThresholds = ({ thresholds, columns }: RuleDefinition): string[] => {
  const { warning, critical, below } = thresholds
  const isReached = warning !== null || critical !== null || columns.some(isThreshold)
  if (!isReached) return ['thresholds: a rule needs warning or critical']
  const isMilder = warning === null || critical === null || (below ? critical <= warning : critical >= warning)
  return isMilder ? [] : ['thresholds: critical must be at least as far as warning']
}

const isThreshold = (column: string): boolean => column === 'warning' || column === 'critical'
