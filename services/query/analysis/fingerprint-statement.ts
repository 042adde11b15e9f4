import { z } from 'zod'
import type { fingerprintOrders, FingerprintsRequest } from '#proto/fingerprints.ts'
import type { Statement } from '../clickhouse/statement.ts'
import { expandMacros, type Scope } from '../definitions/macros.ts'
import { figure, flag } from './records.ts'

/** Characters of a pattern in a list, where hundreds of them stand below one another. */
const listedCharacters = 2_000
/** Characters of the pattern that is looked at. */
const shownCharacters = 100_000
const namedUsers = 20
const namedTables = 20
const microsecondsPerMillisecond = 1_000

const orderColumns: Readonly<Record<(typeof fingerprintOrders)[number], string>> = {
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

/** Ended executions of what clients sent; parts of distributed queries belong to the query that caused them. */
export const ended = `log.type != 'QueryStart' AND is_initial_query`
/** CPU time of one execution. */
export const cpuMs = `(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']) / ${microsecondsPerMillisecond}`

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
  sum(${cpuMs}) AS cpuMs,
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

/** The patterns of a window. Search narrows what is listed, not what shares are of. */
export const fingerprintsStatement = (request: FingerprintsRequest, scope: Scope): Statement => {
  const { order, search, user, own, limit, offset } = request
  const counted = [ended, ...(user === undefined ? [] : ['user = {user:String}']), ...(own ? [] : ['NOT $own'])]
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

/** One pattern of a window, as a share of all that people and programs sent; one of the product's own counts besides. */
export const fingerprintStatement = (hash: string, scope: Scope): Statement => {
  const timeOfAll = `(SELECT sum(query_duration_ms) FROM $log(query_log) AS log WHERE $window AND ${ended} AND (NOT $own OR normalized_query_hash = {hash:UInt64}))`
  const sql = `SELECT${summary(shownCharacters, timeOfAll)}
FROM $log(query_log) AS log
WHERE $window AND ${ended} AND normalized_query_hash = {hash:UInt64}
GROUP BY normalized_query_hash`
  return { what: 'fingerprint', cache: 'realtime', sql: expandMacros(sql, scope), parameters: { hash } }
}

/** One row of the statements about patterns. */
export const FingerprintRow = z.object({
  hash: z.string(),
  query: z.string(),
  kind: z.string(),
  calls: figure,
  totalMs: figure,
  share: z.number().nullable(),
  averageMs: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  longestMs: figure,
  errors: figure,
  cpuMs: z.number(),
  readRows: figure,
  readBytes: figure,
  writtenRows: figure,
  writtenBytes: figure,
  resultRows: figure,
  averageMemoryBytes: z.number(),
  peakMemoryBytes: figure,
  users: z.array(z.string()),
  userCount: figure,
  tables: z.array(z.string()),
  firstSeenMs: figure,
  lastSeenMs: figure,
})

const execution = {
  queryId: z.string(),
  query: z.string(),
  failed: flag,
  endedMs: figure,
  durationMs: figure,
  user: z.string(),
  client: z.string(),
  memoryBytes: figure,
  cpuMs: z.number(),
  readRows: figure,
  readBytes: figure,
  writtenRows: figure,
  resultRows: figure,
  resultBytes: figure,
  exceptionCode: z.number(),
  exception: z.string(),
}

/** One row of the statement about the lists of executions. */
export const ListedExecutionRow = z.object({ list: z.string(), place: figure, ...execution })

/** One row of the statement about executions of some duration. */
export const ExecutionRow = z.object({ total: figure, ...execution })

/** One row of the statement about how long executions took. */
export const LatencyRow = z.object({ timeMs: figure, cell: z.number(), calls: figure, errors: figure })

/** One row of the statement about a pattern's course. */
export const TrendRow = z.object({
  timeMs: figure,
  calls: figure,
  errors: figure,
  totalMs: figure,
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  readRows: figure,
  readBytes: figure,
  peakMemoryBytes: figure,
})

/** One row of the statement about a pattern's failures. */
export const ErrorRow = z.object({
  code: z.number(),
  name: z.string(),
  count: figure,
  lastSeenMs: figure,
  message: z.string(),
})
