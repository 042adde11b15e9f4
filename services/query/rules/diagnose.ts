import type { Call } from '#proto/call.ts'
import { maxDiagnosticRows } from '#proto/rules.ts'
import { askFor, tooOld } from '../availability.ts'
import { ruleScope } from '../definitions/check-rule.ts'
import type { LoadedRule } from '../definitions/load.ts'
import { expandMacros } from '../definitions/macros.ts'
import { readsKeeper } from '../definitions/reads-keeper.ts'
import { sqlFor } from '../definitions/version.ts'
import type { RotatedLogs } from '../clickhouse/rotated-logs.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { Parts } from '../handlers/parts.ts'

const maxSeconds = 15

interface Diagnosis {
  columns: string[]
  rows: unknown[][]
  unavailable: string | null
}

/** The rows that explain a rule on one host. */
export const diagnose = async (
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
