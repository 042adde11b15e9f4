import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import { type Rule, type RuleMetric, type ruleMethods, maxDiagnosticRows } from '#proto/rules.ts'
import { askFor, tooOld } from '../clickhouse/availability.ts'
import { type RotatedLogs, sqlFor } from '../clickhouse/capabilities.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { WithConnections } from '../connections/connections.ts'
import { ruleScope, readsKeeper } from '../definitions/check.ts'
import type { LoadedMetric, LoadedRule } from '../definitions/load.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { Parts } from '../parts.ts'
import type { WithReplicationService } from '../repldb/handlers.ts'
import type { WithStore } from './earlier.ts'
import { evaluate } from './evaluate.ts'
import { isOfReplicationService } from './evaluators/replication-service.ts'
import { measurablesOf } from './measurables.ts'
import { openPlans } from './plan.ts'
import { openTroubles } from './troubles.ts'

const maxSeconds = 15

interface Diagnosis {
  columns: string[]
  rows: unknown[][]
  unavailable: string | null
}

/** The rows that explain a rule on one host. */
const diagnose = async (
  { client, definitions, hosts }: Parts,
  asked: { hostKey: string; rule: string },
  call: Call,
): Promise<Diagnosis> => {
  const host = hosts.get(asked.hostKey)
  const rule = definitions.rule(asked.rule)
  const without = (unavailable: string): Diagnosis => ({ columns: [], rows: [], unavailable })
  if (rule.diagnostic === undefined) return without('nothing more can be asked about this rule')
  const { version, logs } = await client.capabilities(host, call)
  const statement = diagnosticStatement(rule, version, logs)
  if (!statement) return without(tooOld(host, version).message)
  const needs = { requires: rule.diagnosticRequires ?? rule.requires }
  const { told, unavailable } = await askFor(client, host, needs, call, () => client.run(host, statement, call))
  if (!told) return without(unavailable.message)
  return { columns: told.columns.map(({ name }) => name), rows: told.rows.map((row) => [...row]), unavailable: null }
}

/** None when the rule has none for such a server. */
export const diagnosticStatement = (rule: LoadedRule, version: string, logs: RotatedLogs): Statement | undefined => {
  const sql = rule.diagnostic && sqlFor(rule.diagnostic, version)
  if (sql === undefined) return undefined
  const expanded = expandMacros(sql.trim(), ruleScope(rule, logs))
  return {
    what: `rule/${rule.name}`,
    maxSeconds,
    readsKeeper: readsKeeper(expanded),
    sql: `SELECT * FROM (\n${expanded}\n) LIMIT ${maxDiagnosticRows}`,
  }
}

type Given = Parts & WithConnections & WithStore & WithReplicationService

/** What rules are, and what they measure. */
export const ruleHandlers = (parts: Given): Handlers<Service<typeof ruleMethods>> => {
  const place = {
    ...parts,
    net: parts.connections.net,
    troubles: openTroubles(parts.clock.elapsedMs),
    planFor: openPlans(),
    measurables: measurablesOf(parts.definitions),
  }
  // Where there is no replication service nobody should wonder about its rules.
  const isKnown = (rule: LoadedRule) => parts.replicationService.isConfigured() || !isOfReplicationService(rule)
  return {
    rules: async () => ({
      rules: parts.definitions.rules.filter(isKnown).map(ruleInfo),
      metrics: parts.definitions.metrics.map(metricInfo),
    }),
    evaluateRules: (asked, call) => evaluate(place, asked, call),
    diagnoseRule: (asked, call) => diagnose(parts, asked, call),
  }
}

const ruleInfo = (rule: LoadedRule): Rule => ({
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
  diagnosed: rule.diagnostic !== undefined,
})

const metricInfo = ({ name, topic, title, doc, unit }: LoadedMetric): RuleMetric => ({
  id: name,
  category: topic,
  title,
  doc,
  unit,
})
