import { z } from 'zod'
import type { queryPatternOrders, QueryPatternsRequest } from '#proto/fingerprints.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type MacroScope } from '../definitions/macros.ts'
import { hostNumberSchema, hostBooleanSchema } from './read-records.ts'

/** Maximum characters of a pattern in a list, which may have hundreds of rows. */
const listedCharacters = 2_000
/** Maximum characters of a pattern in its detail. */
const shownCharacters = 100_000
const namedUsers = 20
const namedTables = 20
const microsecondsPerMillisecond = 1_000

const orderColumns: Readonly<Record<(typeof queryPatternOrders)[number], string>> = {
  total_time: 'totalMs',
  calls: 'calls',
  average: 'averageMs',
  p50: 'p50Ms',
  p95: 'p95Ms',
  p99: 'p99Ms',
  longest: 'longestMs',
  errors: 'errors',
  cpu: 'cpuMs',
  read_rows: 'readRows',
  read_bytes: 'readBytes',
  written_rows: 'writtenRows',
  result_rows: 'resultRows',
  memory: 'peakMemoryBytes',
  first_seen: 'firstSeenMs',
  last_seen: 'lastSeenMs',
}

/** Condition for ended initial queries. Secondary queries of distributed queries are excluded. */
export const endedQueryCondition = `log.type != 'QueryStart' AND is_initial_query`
/** SQL expression for the CPU time of one execution, in milliseconds. */
export const cpuMsExpression = `(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / ${microsecondsPerMillisecond}`

const summary = (characters: number, timeOfAll: string): string => `
  toString(normalized_query_hash) AS hash,
  substringUTF8(normalizeQuery(any(log.query)), 1, ${characters}) AS query,
  any(toString(query_kind)) AS kind,
  count() AS calls,
  sum(query_duration_ms) AS totalMs,
  totalMs / nullIf(${timeOfAll}, 0) AS share,
  avg(query_duration_ms) AS averageMs,
  quantiles(0.5, 0.95, 0.99)(query_duration_ms) AS percentiles,
  percentiles[1] AS p50Ms,
  percentiles[2] AS p95Ms,
  percentiles[3] AS p99Ms,
  max(query_duration_ms) AS longestMs,
  countIf(log.type != 'QueryFinish') AS errors,
  sum(${cpuMsExpression}) AS cpuMs,
  sum(log.read_rows) AS readRows,
  sum(log.read_bytes) AS readBytes,
  sum(log.written_rows) AS writtenRows,
  sum(log.written_bytes) AS writtenBytes,
  sum(log.result_rows) AS resultRows,
  avg(memory_usage) AS averageMemoryBytes,
  max(memory_usage) AS peakMemoryBytes,
  arraySort(groupUniqArray(${namedUsers})(toString(user))) AS users,
  uniqExact(user) AS userCount,
  arraySort(groupUniqArrayArray(${namedTables})(arrayMap(name -> toString(name), log.tables))) AS tables,
  $ms(min(event_time)) AS firstSeenMs,
  $ms(max(event_time)) AS lastSeenMs`

/** Returns the statement for the patterns of a window. A search filters the list, but shares refer to all patterns. */
export const buildFingerprintListStatement = (request: QueryPatternsRequest, scope: MacroScope): Statement => {
  const { order, search, user, own, limit, offset } = request
  const counted = [
    endedQueryCondition,
    ...(user === undefined ? [] : ['user = {user:String}']),
    ...(own ? [] : ['NOT $own']),
  ]
  const sql = `SELECT *, count() OVER () AS total
FROM (
SELECT${summary(listedCharacters, 'sum(totalMs) OVER ()')}
FROM $log(query_log) AS log
WHERE $window AND ${counted.join(' AND ')}
GROUP BY normalized_query_hash
)${search === undefined ? '' : '\nWHERE positionCaseInsensitiveUTF8(query, {search:String}) > 0'}
ORDER BY ${orderColumns[order]} DESC, hash
LIMIT ${limit} OFFSET ${offset}`
  return {
    what: 'fingerprints',
    cache: 'realtime',
    sql: expandMacros(sql, scope),
    parameters: { ...(user !== undefined && { user }), ...(search !== undefined && { search }) },
  }
}

/**
 * Returns the statement for one pattern of a window. Its share refers to the total time of user queries. For a pattern
 * of Watchhouse, its own executions are included in the total.
 */
export const buildFingerprintDetailStatement = (hash: string, scope: MacroScope): Statement => {
  const timeOfAll = `(SELECT sum(query_duration_ms) FROM $log(query_log) AS log WHERE $window AND ${endedQueryCondition} AND (NOT $own OR normalized_query_hash = {hash:UInt64}))`
  const sql = `SELECT${summary(shownCharacters, timeOfAll)}
FROM $log(query_log) AS log
WHERE $window AND ${endedQueryCondition} AND normalized_query_hash = {hash:UInt64}
GROUP BY normalized_query_hash`
  return { what: 'fingerprint', cache: 'realtime', sql: expandMacros(sql, scope), parameters: { hash } }
}

/** A row of `buildFingerprintListStatement` and `buildFingerprintDetailStatement`. */
export const FingerprintRow = z.object({
  hash: z.string(),
  query: z.string(),
  kind: z.string(),
  calls: hostNumberSchema,
  totalMs: hostNumberSchema,
  share: z.number().nullable(),
  averageMs: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  longestMs: hostNumberSchema,
  errors: hostNumberSchema,
  cpuMs: z.number(),
  readRows: hostNumberSchema,
  readBytes: hostNumberSchema,
  writtenRows: hostNumberSchema,
  writtenBytes: hostNumberSchema,
  resultRows: hostNumberSchema,
  averageMemoryBytes: z.number(),
  peakMemoryBytes: hostNumberSchema,
  users: z.array(z.string()),
  userCount: hostNumberSchema,
  tables: z.array(z.string()),
  firstSeenMs: hostNumberSchema,
  lastSeenMs: hostNumberSchema,
})

const execution = {
  queryId: z.string(),
  query: z.string(),
  failed: hostBooleanSchema,
  endedMs: hostNumberSchema,
  durationMs: hostNumberSchema,
  user: z.string(),
  client: z.string(),
  memoryBytes: hostNumberSchema,
  cpuMs: z.number(),
  readRows: hostNumberSchema,
  readBytes: hostNumberSchema,
  writtenRows: hostNumberSchema,
  resultRows: hostNumberSchema,
  resultBytes: hostNumberSchema,
  exceptionCode: z.number(),
  exception: z.string(),
}

/** A row of `buildExecutionsStatement`. */
export const ListedExecutionRow = z.object({ list: z.string(), place: hostNumberSchema, ...execution })

/** A row of `buildSlowestExecutionsStatement`. */
export const ExecutionRow = z.object({ total: hostNumberSchema, ...execution })

/** A row of `buildLatencyStatement`. */
export const LatencyRow = z.object({
  timeMs: hostNumberSchema,
  cell: z.number(),
  calls: hostNumberSchema,
  errors: hostNumberSchema,
})

/** A row of `buildTrendStatement`. */
export const TrendRow = z.object({
  timeMs: hostNumberSchema,
  calls: hostNumberSchema,
  errors: hostNumberSchema,
  totalMs: hostNumberSchema,
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  readRows: hostNumberSchema,
  readBytes: hostNumberSchema,
  peakMemoryBytes: hostNumberSchema,
})

/** A row of `buildErrorsStatement`. */
export const ErrorRow = z.object({
  code: z.number(),
  name: z.string(),
  count: hostNumberSchema,
  lastSeenMs: hostNumberSchema,
  message: z.string(),
})
