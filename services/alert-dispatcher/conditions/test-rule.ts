import type { CallContext } from '#proto/call.ts'
import type { RuleMetric } from '#proto/rules.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import type { AlertingDeps, AlertingHandlers } from '../alerting.ts'
import { requireSqlRule } from '../policy/alert-config.ts'
import { validateOwnRule } from '../policy/warnings.ts'
import type { Policy } from '../policy.ts'
import { evaluateDueRules, type HostMeasurements, type RuleEvaluation } from './evaluate.ts'
import { findHost, type MonitoredRule, selectHostRules, selectMonitoredRules } from './monitored-rules.ts'

/** Returns the handler that measures the metric of a custom rule once and evaluates it like a sweep. */
export const createTestCustomRuleHandler =
  (alerting: AlertingDeps): AlertingHandlers['testCustomRule'] =>
  async ({ hostKey, rule }, call) => {
    const { query } = alerting
    const { metrics } = await query.rules({}, call)
    const metric = metrics.find(({ id }) => id === rule.metric)
    if (!metric)
      throw createNotFoundError(
        'metric',
        rule.metric,
        metrics.map(({ id }) => id),
        'metric',
      )
    validateOwnRule(rule)
    const custom = [{ ...rule, id: 'custom:test', enabled: true }]
    const tested = await selectTestedRule(alerting, hostKey, { custom, sqlRules: [] }, metrics, call)
    const measured = await query.evaluateRules({ hostKey, rules: [], metrics: [metric.id] }, call)
    const { status, value, reason } = evaluateOnce(tested, {
      readings: new Map(),
      metrics: new Map(measured.metrics.map((reading) => [reading.id, reading])),
      uptimeSeconds: measured.uptimeSeconds,
    })
    return { status, value, unit: metric.unit, reason }
  }

/** Returns the handler that runs the statement of an SQL rule once and evaluates it like a sweep. */
export const createTestSqlRuleHandler =
  (alerting: AlertingDeps): AlertingHandlers['testSqlRule'] =>
  async ({ hostKey, rule }, call) => {
    await requireSqlRule(alerting, rule, call)
    const id = 'sql:test'
    // The user chooses the host of the test, so that the hosts of the rule do not matter.
    const sqlRules = [{ ...rule, id, enabled: true, matchHost: '*', matchGroup: '*' }]
    const tested = await selectTestedRule(alerting, hostKey, { custom: [], sqlRules }, [], call)
    const { readings } = await alerting.query.measureStatements({ hostKey, statements: [{ id, sql: rule.sql }] }, call)
    const { status, value, reason, offenders } = evaluateOnce(tested, {
      readings: new Map(readings.map((reading) => [reading.id, reading])),
      metrics: new Map(),
      uptimeSeconds: null,
    })
    const limits = { warning: tested.warning.at, critical: tested.critical.at }
    return { status, value, unit: rule.unit, reason, offenders, ...limits }
  }

const selectTestedRule = async (
  { query, policy: book }: AlertingDeps,
  hostKey: string,
  tested: Pick<Policy, 'custom' | 'sqlRules'>,
  metrics: readonly RuleMetric[],
  call: CallContext,
): Promise<MonitoredRule> => {
  const policy = { ...(await book.current()), ...tested, rules: {} }
  const host = findHost(await query.hosts({}, call), hostKey)
  const [rule] = selectHostRules(selectMonitoredRules({ rules: [], metrics }, policy), host)
  if (!rule) throw new Error('the tested rule is not monitored')
  return rule
}

const evaluateOnce = (rule: MonitoredRule, measured: HostMeasurements): RuleEvaluation => {
  const [evaluation] = evaluateDueRules([rule], measured, undefined)
  if (!evaluation) throw new Error('the tested rule was not evaluated')
  return evaluation
}
