import { z } from 'zod'
import type { ServiceHandlers } from '#proto/contract.ts'
import type { OwnCost, StatementCost } from '#proto/own-cost.ts'
import type { query } from '#proto/query.ts'
import { readRecords, hostNumberSchema } from '../analysis/read-records.ts'
import { resolveAnalysisScope } from '../analysis/analysis-window.ts'
import { cpuMsExpression } from '../analysis/fingerprint-statement.ts'
import { queryIfAvailable } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type MacroScope } from '../definitions/macros.ts'
import { toResponseWindow } from '../definitions/window.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'

/** Returns the statement for the cost by purpose. The purpose is empty for statements of other clients. */
const ownCostStatement = (scope: MacroScope): Statement => {
  const sql = `SELECT
  if($own, $purpose, '') AS purpose,
  count() AS statements,
  countIf(log.type != 'QueryFinish') AS failures,
  sum(${cpuMsExpression}) AS cpuMs,
  sum(query_duration_ms) AS durationMs,
  sum(log.read_rows) AS readRows,
  sum(log.read_bytes) AS readBytes
FROM $log(query_log) AS log
WHERE $window AND log.type != 'QueryStart'
GROUP BY purpose
ORDER BY cpuMs DESC, purpose`
  return { what: 'own-cost', cache: 'realtime', sql: expandMacros(sql, scope) }
}

/** A row of `ownCostStatement`. */
const CostRow = z.object({
  purpose: z.string(),
  statements: hostNumberSchema,
  failures: hostNumberSchema,
  cpuMs: z.number(),
  durationMs: hostNumberSchema,
  readRows: hostNumberSchema,
  readBytes: hostNumberSchema,
})

const nothing: StatementCost = { statements: 0, failures: 0, cpuMs: 0, durationMs: 0, readRows: 0, readBytes: 0 }

/** Returns the cost of Watchhouse's statements, with their share of the CPU time of all statements. */
const ownCostOf = (rows: readonly z.output<typeof CostRow>[]): OwnCost => {
  const purposes = rows.filter(({ purpose }) => purpose !== '')
  const total = purposes.reduce(added, nothing)
  const all = rows.reduce(added, nothing)
  return { total: { ...total, cpuShare: all.cpuMs > 0 ? total.cpuMs / all.cpuMs : null }, purposes }
}

const added = (sum: StatementCost, row: StatementCost): StatementCost => ({
  statements: sum.statements + row.statements,
  failures: sum.failures + row.failures,
  cpuMs: sum.cpuMs + row.cpuMs,
  durationMs: sum.durationMs + row.durationMs,
  readRows: sum.readRows + row.readRows,
  readBytes: sum.readBytes + row.readBytes,
})

const needs = { requires: ['system.query_log'] }

/** Returns the handler for the cost of Watchhouse's statements on one host. */
export const createOwnCostHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['ownCost'] =>
  async ({ hostKey, ...request }, call) => {
    const host = parts.hosts.get(hostKey)
    const analysis = await resolveAnalysisScope(parts, host, request, call)
    const window = { ...toResponseWindow(analysis.window), interval: null }
    const { data, unavailable } = await queryIfAvailable(parts.client, host, needs, call, async () =>
      readRecords(host, CostRow, await parts.client.run(host, ownCostStatement(analysis.scope), call)),
    )
    return { cost: data && ownCostOf(data), window, unavailable }
  }
