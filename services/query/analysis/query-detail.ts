import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { QuerySummary } from '#proto/query-detail.ts'
import type { query } from '#proto/query.ts'
import { checkRequirements, findUnavailableReason } from '../clickhouse/availability.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { type MacroScope, expandMacros } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import { readLogSettings } from './log-settings.ts'
import { hostNumberSchema, hostBooleanSchema, readRecords } from './read-records.ts'
import { resolveAnalysisScope } from './analysis-window.ts'
import { cpuMsExpression } from './fingerprint-statement.ts'
import { processorsSection, threadsSection, viewsSection, readChildQueries, readDetailSection } from './query-parts.ts'

const shared = `
  query_id AS queryId,
  toString(query_kind) AS kind,
  log.query AS query,
  toString(log.user) AS user,
  toString(initial_user) AS initialUser,
  is_initial_query AS isInitial,
  initial_query_id AS initialQueryId,
  replaceOne(toString(log.address), '::ffff:', '') AS address,
  if(client_name != '', client_name, http_user_agent) AS client,
  current_database AS currentDatabase,
  memory_usage AS memoryBytes,
  ${cpuMsExpression} AS cpuMs,
  read_rows AS readRows,
  read_bytes AS readBytes,
  written_rows AS writtenRows,
  written_bytes AS writtenBytes,
  length(thread_ids) AS threads,
  Settings AS settings,
  ProfileEvents AS profileEvents`

/** Returns the statement for the last ended execution with a query id, or for its start if no end is logged. */
export const buildLoggedQueryStatement = (queryId: string, scope: MacroScope): Statement => ({
  what: 'query-detail',
  sql: expandMacros(
    `SELECT
  multiIf(log.type = 'QueryStart', 'lost', log.type = 'QueryFinish', 'finished', 'failed') AS status,
  countIf(log.type != 'QueryStart') OVER () AS executions,
  $ms(query_start_time_microseconds) AS startedMs,
  if(log.type = 'QueryStart', NULL, $ms(event_time_microseconds)) AS endedMs,
  query_duration_ms AS durationMs,
  toString(normalized_query_hash) AS fingerprint,
  log_comment AS logComment,
  log.databases AS databases,
  log.tables AS tables,
  log.columns AS columns,
  log.projections AS projections,
  used_functions AS functions,
  result_rows AS resultRows,
  result_bytes AS resultBytes,
  exception_code AS exceptionCode,
  log.exception AS exception,
  stack_trace AS stackTrace,${shared}
FROM $log(query_log) AS log
WHERE $window AND query_id = {query_id:String}
ORDER BY log.type != 'QueryStart' DESC, event_time_microseconds DESC
LIMIT 1`,
    scope,
  ),
  parameters: { query_id: queryId },
})

/** Returns the statement for a running query, with the columns of `buildLoggedQueryStatement`. */
export const buildRunningQueryStatement = (queryId: string): Statement => ({
  what: 'query-detail/running',
  sql: `SELECT
  'running' AS status,
  0 AS executions,
  toUnixTimestamp64Milli(now64(3)) - toUInt64(elapsed * 1000) AS startedMs,
  NULL AS endedMs,
  toUInt64(elapsed * 1000) AS durationMs,
  toString(normalizedQueryHash(log.query)) AS fingerprint,
  Settings['log_comment'] AS logComment,
  CAST([], 'Array(String)') AS databases,
  CAST([], 'Array(String)') AS tables,
  CAST([], 'Array(String)') AS columns,
  CAST([], 'Array(String)') AS projections,
  CAST([], 'Array(String)') AS functions,
  0 AS resultRows,
  0 AS resultBytes,
  0 AS exceptionCode,
  '' AS exception,
  '' AS stackTrace,${shared}
FROM system.processes AS log
WHERE query_id = {query_id:String}
LIMIT 1`,
  parameters: { query_id: queryId },
})

type QueryDetailResult = Awaited<ReturnType<ServiceHandlers<typeof query>['queryDetail']>>

const needs = { requires: ['system.query_log'] }

const figures = {
  executions: hostNumberSchema,
  startedMs: hostNumberSchema,
  endedMs: hostNumberSchema.nullable(),
  durationMs: hostNumberSchema,
  memoryBytes: hostNumberSchema,
  readRows: hostNumberSchema,
  readBytes: hostNumberSchema,
  writtenRows: hostNumberSchema,
  writtenBytes: hostNumberSchema,
  resultRows: hostNumberSchema,
  resultBytes: hostNumberSchema,
  threads: hostNumberSchema,
}
const SummaryRow = QuerySummary.extend({
  ...figures,
  isInitial: hostBooleanSchema,
  settings: z.record(z.string(), z.string()),
  profileEvents: z.record(z.string(), hostNumberSchema),
})

/** Returns the handler for the detail of one query: summary, settings, threads, views, processors and child queries. */
export const createQueryDetailHandler =
  (parts: QueryHandlerDeps): ServiceHandlers<typeof query>['queryDetail'] =>
  async ({ hostKey, queryId, lastHours }, call) => {
    const host = parts.hosts.get(hostKey)
    const { scope } = await resolveAnalysisScope(parts, host, { lastHours }, call)
    const missing = await checkRequirements(parts.client, host, needs, call)
    if (missing) return { detail: null, unavailable: missing }
    try {
      return await detailOf(parts, host, queryId, scope, call)
    } catch (error) {
      const unavailable = findUnavailableReason(parts.client, host, needs, error)
      if (unavailable) return { detail: null, unavailable }
      throw error
    }
  }

const detailOf = async (
  parts: QueryHandlerDeps,
  host: MonitoredHost,
  queryId: string,
  scope: MacroScope,
  call: CallContext,
): Promise<QueryDetailResult> => {
  const select = async (statement: Statement) =>
    readRecords(host, SummaryRow, await parts.client.run(host, statement, call))[0]
  const [logged, running] = await Promise.all([
    select(buildLoggedQueryStatement(queryId, scope)),
    select(buildRunningQueryStatement(queryId)),
  ])
  const found = running ? { ...running, executions: logged?.executions ?? 0 } : logged
  if (!found) {
    throw new ServiceError(
      'not-found',
      `host ${host.name} has no query with this ID in this time range; the query log is written with a delay of some seconds`,
      { details: { parameter: 'queryId' } },
    )
  }
  const place = { client: parts.client, host, queryId, scope, call }
  const [ofThreads, ofViews, ofProcessors, ofChildren] = await Promise.all([
    readDetailSection(place, threadsSection),
    readDetailSection(place, viewsSection),
    readDetailSection(place, processorsSection),
    readChildQueries(parts, host, queryId, scope, call),
  ])
  const { settings, profileEvents, ...summary } = found
  const isEmpty = ofThreads.rows.length === 0 || ofProcessors.rows.length === 0
  const logSettings = isEmpty ? await readLogSettings(place, settings) : []
  const detail = {
    summary,
    settings: named(settings),
    profileEvents: named(profileEvents),
    threads: ofThreads,
    views: ofViews,
    processors: ofProcessors,
    logSettings,
    children: ofChildren,
  }
  return { detail, unavailable: null }
}

const named = <T>(values: Readonly<Record<string, T>>): { name: string; value: T }[] =>
  Object.entries(values)
    .map(([name, value]) => ({ name, value }))
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
