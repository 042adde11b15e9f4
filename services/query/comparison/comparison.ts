import { z } from 'zod'
import { requireFeature, type CallContext } from '#proto/call.ts'
import type { ComparedPattern, PatternStatistics } from '#proto/comparison.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import type { query, FleetMetrics, HostStatus, TimeWindow } from '#proto/query.ts'
import type { UnavailableReason } from '#proto/unavailable-reason.ts'
import { readRecords, hostNumberSchema } from '../analysis/read-records.ts'
import { resolveAnalysisTimeRange, type AnalysisScope, resolveAnalysisScope } from '../analysis/analysis-window.ts'
import { cpuMsExpression, endedQueryCondition } from '../analysis/fingerprint-statement.ts'
import { queryIfAvailable } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type MacroScope } from '../definitions/macros.ts'
import { toResponseWindow } from '../definitions/window.ts'
import { queryEachHost } from '../hosts/query-each-host.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { toHostStatus } from '../status/host-status.ts'
import { buildMetricsStatement, fleetMetricNames, readMetrics } from '../status/status-statement.ts'

const shownCharacters = 2_000

/** Returns the statement for the most expensive query patterns of users, limited to `hashes` when provided. */
const patternStatement = (scope: MacroScope, limit: number, hashes?: readonly string[]): Statement => {
  const sql = `SELECT
  toString(normalized_query_hash) AS hash,
  substringUTF8(normalizeQuery(any(log.query)), 1, ${shownCharacters}) AS query,
  any(toString(query_kind)) AS kind,
  count() AS calls,
  sum(query_duration_ms) AS totalMs,
  avg(query_duration_ms) AS averageMs,
  quantile(0.95)(query_duration_ms) AS p95Ms,
  countIf(log.type != 'QueryFinish') AS errors,
  sum(${cpuMsExpression}) AS cpuMs,
  sum(log.read_rows) AS readRows,
  sum(log.read_bytes) AS readBytes,
  max(memory_usage) AS peakMemoryBytes
FROM $log(query_log) AS log
WHERE $window AND ${endedQueryCondition} AND NOT $own${hashes ? ' AND normalized_query_hash IN {hashes:Array(UInt64)}' : ''}
GROUP BY normalized_query_hash
ORDER BY totalMs DESC, hash
LIMIT ${limit}`
  const parameters: Statement['parameters'] = hashes ? { hashes: `[${hashes.join(',')}]` } : {}
  return { what: 'comparison', cache: 'realtime', sql: expandMacros(sql, scope), parameters }
}

/** A row of `patternStatement`. */
const PatternRow = z.object({
  hash: z.string(),
  query: z.string(),
  kind: z.string(),
  calls: hostNumberSchema,
  totalMs: hostNumberSchema,
  averageMs: z.number(),
  p95Ms: z.number(),
  errors: hostNumberSchema,
  cpuMs: z.number(),
  readRows: hostNumberSchema,
  readBytes: hostNumberSchema,
  peakMemoryBytes: hostNumberSchema,
})
type PatternRow = z.output<typeof PatternRow>

const needs = { requires: ['system.query_log'] }

/** The key metrics of one host and its most expensive patterns. */
interface HostComparison extends AnalysisScope {
  status: HostStatus
  metrics: FleetMetrics
  rows: PatternRow[]
  /** Why the query patterns are unavailable; null if they are available. */
  unavailable: UnavailableReason | null
}

/** Reads the key metrics and the most expensive patterns of one host. */
const readHost = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  request: TimeWindow & { limit: number },
  call: CallContext,
): Promise<HostComparison> => {
  const { client, clock } = parts
  const { tables } = await client.capabilities(host, call)
  const analysis = await resolveAnalysisScope(parts, host, request, call)
  const [figures, { data, unavailable }] = await Promise.all([
    client.run(host, buildMetricsStatement('comparison', fleetMetricNames, tables), call),
    queryIfAvailable(client, host, needs, call, async () =>
      readRecords(host, PatternRow, await client.run(host, patternStatement(analysis.scope, request.limit), call)),
    ),
  ])
  const status = toHostStatus(host, figures, clock.now())
  const metrics = readMetrics(host, fleetMetricNames, figures.rows)
  return { ...analysis, status, metrics, rows: data ?? [], unavailable }
}

/** Returns the rows of a host, with additional rows for patterns that are among the most expensive on other hosts. */
const readFurther = async (
  { client }: QueryHandlerDeps,
  host: MonitoredHost,
  { rows, scope, unavailable }: HostComparison,
  hashes: readonly string[],
  call: CallContext,
): Promise<PatternRow[]> => {
  const known = new Set(rows.map(({ hash }) => hash))
  const further = hashes.filter((hash) => !known.has(hash))
  if (unavailable || further.length === 0) return rows
  const result = await client.run(host, patternStatement(scope, further.length, further), call)
  return [...rows, ...readRecords(host, PatternRow, result)]
}

/** Returns the handler that compares several hosts. */
export const createComparisonHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['comparison'] =>
  async ({ hostKeys, ...request }, call) => {
    requireFeature(call.identity, 'OVERVIEW', 'the comparison of hosts')
    // An invalid window is the caller's error, not a failure of each host.
    resolveAnalysisTimeRange(request, parts.clock.now())
    const hosts = await queryEachHost(parts, hostKeys, call, (host, own) => readHost(parts, host, request, own))
    const results = new Map(hosts.map(({ host, result }) => [host.key, result]))
    const hashes = [...new Set(hosts.flatMap(({ result }) => result?.rows ?? []).map(({ hash }) => hash))]
    const patterns = await queryEachHost(parts, hostKeys, call, async (host, own) => {
      const result = results.get(host.key)
      return result ? readFurther(parts, host, result, hashes, own) : []
    })
    const [first] = hosts.flatMap(({ result }) => result ?? [])
    return {
      hosts: hosts.map(({ ref: { hostKey, error }, result }, index) => ({
        hostKey,
        error: error ?? patterns[index]?.ref.error ?? null,
        status: result?.status ?? null,
        metrics: result?.metrics ?? null,
        unavailable: result?.unavailable ?? null,
      })),
      patterns: joinPatterns(
        patterns.map(({ result }) => result ?? []),
        request.limit,
      ),
      window: first ? toResponseWindow({ ...first.window, interval: undefined }) : null,
    }
  }

/** Joins the patterns of all hosts, sorted by the difference in total time. */
const joinPatterns = (hosts: readonly (readonly PatternRow[])[], limit: number): ComparedPattern[] => {
  const byHash = hosts.map((rows) => new Map(rows.map((row) => [row.hash, row])))
  const named = new Map(hosts.flat().map(({ hash, query, kind }) => [hash, { hash, query, kind }]))
  return [...named.values()]
    .map((pattern) => ({ ...pattern, values: byHash.map((rows) => figuresOf(rows.get(pattern.hash))) }))
    .toSorted((left, right) => spread(right) - spread(left) || (left.hash < right.hash ? -1 : 1))
    .slice(0, limit)
}

const figuresOf = (row: PatternRow | undefined): PatternStatistics | null => {
  if (!row) return null
  const { hash: _hash, query: _query, kind: _kind, ...figures } = row
  return figures
}

const spread = ({ values }: ComparedPattern): number => {
  const times = values.map((figures) => figures?.totalMs ?? 0)
  return Math.max(...times) - Math.min(...times)
}
