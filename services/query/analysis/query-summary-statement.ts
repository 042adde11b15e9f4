import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type Scope } from '../definitions/macros.ts'
import { cpuMs } from './fingerprint-statement.ts'

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
  ${cpuMs} AS cpuMs,
  read_rows AS readRows,
  read_bytes AS readBytes,
  written_rows AS writtenRows,
  written_bytes AS writtenBytes,
  length(thread_ids) AS threads,
  Settings AS settings,
  ProfileEvents AS profileEvents`

/** The last execution under an id that has ended; else one that has begun. */
export const loggedQueryStatement = (queryId: string, scope: Scope): Statement => ({
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

/** A query that runs at this moment, in the same columns. */
export const runningQueryStatement = (queryId: string): Statement => ({
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
