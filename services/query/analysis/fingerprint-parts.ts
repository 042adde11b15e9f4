import type { ExecutionsRequest } from '#proto/fingerprints.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { buckets, type ChartWindow } from '../definitions/window.ts'
import { expandMacros, type MacroScope } from '../definitions/macros.ts'
import { cpuMsExpression, endedQueryCondition } from './fingerprint-statement.ts'

/** Maximum executions in each of the lists of slowest, largest and failed executions. */
export const maxNotableExecutions = 5
const maxErrorCodes = 50
const queryCharacters = 2_000
const sentenceCharacters = 500

const patternCondition = `$window AND ${endedQueryCondition} AND normalized_query_hash = {hash:UInt64}`

const execution = `
  query_id AS queryId,
  substringUTF8(log.query, 1, ${queryCharacters}) AS query,
  log.type != 'QueryFinish' AS failed,
  $ms(event_time_microseconds) AS endedMs,
  query_duration_ms AS durationMs,
  toString(log.user) AS user,
  if(client_name != '', client_name, http_user_agent) AS client,
  memory_usage AS memoryBytes,
  ${cpuMsExpression} AS cpuMs,
  read_rows AS readRows,
  read_bytes AS readBytes,
  written_rows AS writtenRows,
  result_rows AS resultRows,
  result_bytes AS resultBytes,
  exception_code AS exceptionCode,
  substringUTF8(log.exception, 1, ${sentenceCharacters}) AS exception`

/** Lists of executions in the detail of a pattern, each with its sort column and filter. */
const lists = [
  { list: 'executions', order: 'event_time_microseconds', only: '' },
  { list: 'slowest', order: 'query_duration_ms', only: '' },
  { list: 'largestResult', order: 'result_bytes', only: " AND log.type = 'QueryFinish' AND result_bytes > 0" },
  { list: 'errored', order: 'event_time_microseconds', only: " AND log.type != 'QueryFinish'" },
] as const

/** Returns one statement for all lists of executions. `place` is the position within a list. */
export const buildExecutionsStatement = (hash: string, maxListed: number, scope: MacroScope): Statement => {
  const branches = lists.map(
    ({ list, order, only }) => `SELECT '${list}' AS list, *
FROM (
SELECT row_number() OVER (ORDER BY ${order} DESC) AS place,${execution}
FROM $log(query_log) AS log
WHERE ${patternCondition}${only}
ORDER BY ${order} DESC
LIMIT ${list === 'executions' ? maxListed : maxNotableExecutions}
)`,
  )
  const sql = expandMacros(branches.join('\nUNION ALL\n'), scope)
  return { what: 'fingerprint/executions', cache: 'realtime', sql, parameters: { hash } }
}

/** Returns the statement for the time series of a pattern. Buckets without executions are included. */
export const buildTrendStatement = (hash: string, window: ChartWindow, scope: MacroScope): Statement => {
  const { start, step } = buckets[window.interval ?? 'toStartOfHour']
  const sql = `SELECT
  $ms(time) AS timeMs,
  calls, errors, totalMs, readRows, readBytes, peakMemoryBytes,
  if(calls = 0, NULL, percentiles[1]) AS p50Ms,
  if(calls = 0, NULL, percentiles[2]) AS p95Ms,
  if(calls = 0, NULL, percentiles[3]) AS p99Ms
FROM (
SELECT * FROM (
SELECT
  $bucket(event_time) AS time,
  count() AS calls,
  countIf(log.type != 'QueryFinish') AS errors,
  sum(query_duration_ms) AS totalMs,
  quantiles(0.5, 0.95, 0.99)(query_duration_ms) AS percentiles,
  sum(read_rows) AS readRows,
  sum(read_bytes) AS readBytes,
  max(memory_usage) AS peakMemoryBytes
FROM $log(query_log) AS log
WHERE ${patternCondition}
GROUP BY time
)
ORDER BY time WITH FILL FROM ${start(window.since, scope.zone)} TO ${window.until} STEP ${step}
)`
  return { what: 'fingerprint/trend', cache: 'realtime', sql: expandMacros(sql, scope), parameters: { hash } }
}

/** Histogram cells per doubling of the duration. */
const cellsPerDoubling = 2

/** Returns the lower bound of a histogram cell in milliseconds. The first cell starts at zero. */
export const computeLatencyCellStartMs = (cell: number): number =>
  cell === 0 ? 0 : Math.ceil(2 ** (cell / cellsPerDoubling))

/** Returns the statement for the latency histogram of a pattern, per time bucket. */
export const buildLatencyStatement = (hash: string, scope: MacroScope): Statement => {
  const sql = `SELECT
  $ms($bucket(event_time)) AS timeMs,
  toUInt8(floor(log2(greatest(query_duration_ms, 1)) * ${cellsPerDoubling})) AS cell,
  count() AS calls,
  countIf(log.type != 'QueryFinish') AS errors
FROM $log(query_log) AS log
WHERE ${patternCondition}
GROUP BY timeMs, cell
ORDER BY timeMs, cell`
  return { what: 'fingerprint/latency', cache: 'realtime', sql: expandMacros(sql, scope), parameters: { hash } }
}

/** Returns the statement for the executions within a range of durations, slowest first, with their total number. */
export const buildSlowestExecutionsStatement = (
  { hash, minMs, maxMs, limit }: ExecutionsRequest,
  scope: MacroScope,
): Statement => {
  const bounds = {
    ...(minMs !== undefined && { 'query_duration_ms >= {minMs:UInt64}': { minMs: String(minMs) } }),
    ...(maxMs !== undefined && { 'query_duration_ms < {maxMs:UInt64}': { maxMs: String(maxMs) } }),
  }
  const sql = `SELECT count() OVER () AS total,${execution}
FROM $log(query_log) AS log
WHERE ${[patternCondition, ...Object.keys(bounds)].join(' AND ')}
ORDER BY query_duration_ms DESC, event_time_microseconds DESC
LIMIT ${limit}`
  const parameters = Object.assign({ hash }, ...Object.values(bounds))
  return { what: 'executions', cache: 'realtime', sql: expandMacros(sql, scope), parameters }
}

/** Returns the statement for the errors of a pattern, grouped by exception code. */
export const buildErrorsStatement = (hash: string, scope: MacroScope): Statement => {
  const sql = `SELECT
  exception_code AS code,
  errorCodeToName(exception_code) AS name,
  count() AS count,
  $ms(max(event_time)) AS lastSeenMs,
  substringUTF8(argMax(log.exception, event_time_microseconds), 1, ${sentenceCharacters}) AS message
FROM $log(query_log) AS log
WHERE ${patternCondition} AND log.type != 'QueryFinish'
GROUP BY exception_code
ORDER BY count DESC, code
LIMIT ${maxErrorCodes}`
  return { what: 'fingerprint/errors', cache: 'realtime', sql: expandMacros(sql, scope), parameters: { hash } }
}
