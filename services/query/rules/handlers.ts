import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { type Rule, type RuleMetric, type ruleMethods, maxDiagnosticRows } from '#proto/rules.ts'
import { queryIfAvailable, createUnsupportedVersionReason } from '../clickhouse/availability.ts'
import { type RotatedLogExpressions, selectSqlBranch } from '../clickhouse/capabilities.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { ConnectionHandlerDeps } from '../connections/connections.ts'
import { createRuleScope, readsKeeper } from '../definitions/check.ts'
import type { LoadedMetric, LoadedRule } from '../definitions/load.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { ReplicationServiceDeps } from '../repldb/handlers.ts'
import type { SweepStateDeps } from './sweep-state.ts'
import { evaluateHost } from './evaluate.ts'
import { readPermissions } from '../config.ts'
import { checkRuleStatement, measureStatements } from './measure-statements.ts'
import { isReplicationServiceRule } from './evaluators/replication-service.ts'
import { toMeasuredDefinitions } from './measured-definitions.ts'
import { openPlanner } from './plan.ts'
import { openRuleFailureRegistry } from './rule-failures.ts'

const maxSeconds = 15

interface Diagnosis {
  columns: string[]
  rows: unknown[][]
  unavailable: string | null
}

/** Runs a rule's diagnostic query on one host. */
const diagnose = async (
  { client, definitions, hosts }: QueryHandlerDeps,
  request: { hostKey: string; rule: string },
  call: CallContext,
): Promise<Diagnosis> => {
  const host = hosts.get(request.hostKey)
  const rule = definitions.rule(request.rule)
  const without = (unavailable: string): Diagnosis => ({ columns: [], rows: [], unavailable })
  if (rule.diagnostic === undefined) return without('this rule has no diagnostic query')
  const { version, logs } = await client.capabilities(host, call)
  const statement = buildDiagnosticStatement(rule, version, logs)
  if (!statement) return without(createUnsupportedVersionReason(host, version).message)
  const needs = { requires: rule.diagnosticRequires ?? rule.requires }
  const { data, unavailable } = await queryIfAvailable(client, host, needs, call, () =>
    client.run(host, statement, call),
  )
  if (!data) return without(unavailable.message)
  return { columns: data.columns.map(({ name }) => name), rows: data.rows.map((row) => [...row]), unavailable: null }
}

/** Returns the diagnostic statement, or undefined when the rule has none for this server version. */
export const buildDiagnosticStatement = (
  rule: LoadedRule,
  version: string,
  logs: RotatedLogExpressions,
): Statement | undefined => {
  const sql = rule.diagnostic && selectSqlBranch(rule.diagnostic, version)
  if (sql === undefined) return undefined
  const expanded = expandMacros(sql.trim(), createRuleScope(rule, logs))
  return {
    what: `rule/${rule.name}`,
    maxSeconds,
    readsKeeper: readsKeeper(expanded),
    sql: `SELECT * FROM (\n${expanded}\n) LIMIT ${maxDiagnosticRows}`,
  }
}

type RuleDeps = QueryHandlerDeps & ConnectionHandlerDeps & SweepStateDeps & ReplicationServiceDeps

/** Returns the handlers that list, evaluate and diagnose rules. */
export const createRuleHandlers = (parts: RuleDeps): ServiceHandlers<Service<typeof ruleMethods>> => {
  const place = {
    ...parts,
    net: parts.connections.net,
    troubles: openRuleFailureRegistry(parts.clock.elapsedMs),
    planFor: openPlanner(),
    measurables: toMeasuredDefinitions(parts.definitions),
  }
  // Rules of the replication service are hidden where none is configured.
  const isKnown = (rule: LoadedRule) => parts.replicationService.isConfigured() || !isReplicationServiceRule(rule)
  return {
    rules: async () => ({
      rules: parts.definitions.rules.filter(isKnown).map(toRule),
      metrics: parts.definitions.metrics.map(metricInfo),
    }),
    evaluateRules: (request, call) => evaluateHost(place, request, call),
    checkRuleStatement: async ({ sql }) => {
      checkRuleStatement(sql, readPermissions(parts.env))
      return {}
    },
    measureStatements: (request, call) => measureStatements(parts, request, call),
    diagnoseRule: (request, call) => diagnose(parts, request, call),
  }
}

/** Returns a rule without its statement. */
export const toRule = (rule: LoadedRule): Rule => ({
  id: rule.name,
  title: rule.title,
  doc: rule.doc,
  category: rule.topic,
  unit: rule.unit,
  measure: rule.measure,
  thresholds: rule.thresholds,
  clearRatio: rule.clearRatio,
  minimumSamples: rule.minimumSamples ?? null,
  breaches: rule.breaches ?? null,
  clears: rule.clears ?? null,
  everySweeps: rule.everySweeps,
  enabled: rule.enabled,
  once: rule.once,
  allOf: rule.allOf ?? [],
  runbook: rule.runbook,
  ...(rule.href !== undefined && { href: rule.href }),
  ...(rule.lastMinutes !== undefined && { lastMinutes: rule.lastMinutes }),
  diagnosed: rule.diagnostic !== undefined,
})

const metricInfo = ({ name, topic, title, doc, unit }: LoadedMetric): RuleMetric => ({
  id: name,
  category: topic,
  title,
  doc,
  unit,
})
