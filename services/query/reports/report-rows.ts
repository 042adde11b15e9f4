import { z } from 'zod'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { type reportRowMethods, reportRowSets, type ReportRowSet, reportStepCount } from '#proto/report-rows.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import type { Store } from '#shared/store/store.ts'
import { readRecords } from '../analysis/read-records.ts'
import { queryIfAvailable } from '../clickhouse/availability.ts'
import { findClickhouseErrorCode } from '../clickhouse/failure.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { QueryHandlerDeps } from '../handler-deps.ts'
import type { SweepStateDeps } from '../rules/sweep-state.ts'

/** The error code for reading `system.certificates` of a server without a certificate. */
const failedToSetUp = 1000
const keptMs = 100 * 86_400_000

interface CertificateDeps extends Pick<QueryHandlerDeps, 'clock' | 'probe'> {
  store: Pick<Store, 'get' | 'update'>
}

/**
 * Reads `system.certificates`. On a server without a certificate, the query fails and increments an error counter. The
 * function then returns no rows and records this in the store, to skip the query until the server restarts.
 */
export const readCertificates = async (
  place: CertificateDeps,
  hostKey: string,
  query: () => Promise<Record<string, unknown>[]>,
): Promise<Record<string, unknown>[]> => {
  const key = `query:reports:without-certificates:${hostKey}`
  const learntMs = await ignoreUnavailable(() => place.store.get(key, z.number()))
  if (learntMs !== undefined && runsSince(place, hostKey, learntMs)) return []
  try {
    return await query()
  } catch (error) {
    if (findClickhouseErrorCode(error) !== failedToSetUp) throw error
    await ignoreUnavailable(() =>
      place.store.update(key, z.number(), () => ({ value: place.clock.now(), expiresInMs: keptMs })),
    )
    return []
  }
}

const runsSince = ({ probe }: CertificateDeps, hostKey: string, atMs: number): boolean => {
  const { uptimeSeconds, checkedAtMs } = probe.known(hostKey).state
  return uptimeSeconds !== null && checkedAtMs !== null && checkedAtMs - uptimeSeconds * 1_000 < atMs
}

/** Returns the handler that reads a row set of one host for a period. */
const reportRows =
  (parts: QueryHandlerDeps & SweepStateDeps): ServiceHandlers<Service<typeof reportRowMethods>>['reportRows'] =>
  async ({ hostKey, set, fromMs, toMs }, call) => {
    const { hosts, client } = parts
    const host = hosts.get(hostKey)
    const { requires, sql: template } = reportStatements[set]
    const { logs } = await client.capabilities(host, call)
    const [from, to] = [Math.floor(fromMs / 1_000), Math.ceil(toMs / 1_000)]
    const period = { before: Math.max(0, 2 * from - to), from, to }
    const sql = expandMacros(template(period), { window: undefined, zone: undefined, logs })
    const select = async () =>
      readRecords(host, reportRowSets[set], await client.run(host, { what: `report/${set}`, sql }, call))
    const { data, unavailable, incomplete } = await queryIfAvailable(client, host, { requires }, call, () =>
      set === 'certificates' ? readCertificates(parts, hostKey, select) : select(),
    )
    return { rows: data ?? [], unavailable, incomplete }
  }

/** Returns the handlers for the row sets of reports. */
export const createReportRowHandlers = (
  parts: QueryHandlerDeps & SweepStateDeps,
): ServiceHandlers<Service<typeof reportRowMethods>> => ({
  reportRows: reportRows(parts),
})

/** A period and the preceding period of the same length, which starts at `before`. All times are in epoch seconds. */
interface ReportPeriod {
  before: number
  from: number
  to: number
}

/** A statement for a period. The times of the period are the only values that are inserted into its SQL. */
interface ReportSet {
  /** Required tables, which a server may not have. */
  requires: readonly string[]
  sql(period: ReportPeriod): string
}

/** Maximum number of query patterns in a report: the most expensive of both periods. */
const maxPatterns = 500
const textCharacters = 200
const diskDays = 14
const day = 86_400
const outsideSystemDatabases = `database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')`
/** Condition for ended queries of clients, without the statements of Watchhouse. */
const ended = `log.type != 'QueryStart' AND is_initial_query AND NOT $own`

const between = (from: number, to: number): string =>
  `event_date >= toDate(toDateTime(${from})) AND event_date <= toDate(toDateTime(${to})) AND event_time >= toDateTime(${from}) AND event_time < toDateTime(${to})`

/** Row sets of the query log. */
const statementSets = {
  'statement-totals': {
    requires: ['system.query_log'],
    sql: ({ before, from, to }) => `SELECT event_time < toDateTime(${from}) AS isBefore,
  count() AS calls,
  countIf(log.type != 'QueryFinish') AS errors,
  sum(query_duration_ms) AS totalMs,
  quantiles(0.5, 0.95)(query_duration_ms) AS percentiles,
  percentiles[1] AS p50Ms,
  percentiles[2] AS p95Ms,
  max(memory_usage) AS peakMemoryBytes
FROM $log(query_log) AS log
WHERE ${between(before, to)} AND ${ended}
GROUP BY isBefore
ORDER BY isBefore`,
  },
  'statement-steps': {
    requires: ['system.query_log'],
    sql: ({
      from,
      to,
    }) => `SELECT intDiv((toUnixTimestamp(event_time) - ${from}) * ${reportStepCount}, ${to - from}) AS step,
  count() AS calls,
  countIf(log.type != 'QueryFinish') AS errors,
  quantile(0.95)(query_duration_ms) AS p95Ms,
  max(memory_usage) AS peakMemoryBytes
FROM $log(query_log) AS log
WHERE ${between(from, to)} AND ${ended}
GROUP BY step
ORDER BY step`,
  },
  patterns: {
    requires: ['system.query_log'],
    sql: ({ before, from, to }) => `SELECT toString(normalized_query_hash) AS hash,
  substringUTF8(normalizeQuery(any(log.query)), 1, ${textCharacters}) AS text,
  any(toString(query_kind)) AS kind,
  countIf(isNow) AS calls,
  countIf(NOT isNow) AS callsBefore,
  sumIf(query_duration_ms, isNow) AS totalMs,
  sumIf(query_duration_ms, NOT isNow) AS totalMsBefore,
  quantileIf(0.95)(query_duration_ms, isNow) AS p95Ms,
  quantileIf(0.95)(query_duration_ms, NOT isNow) AS p95MsBefore,
  avgIf(log.read_bytes, isNow) AS readBytes,
  avgIf(log.read_bytes, NOT isNow) AS readBytesBefore,
  sum(totalMs) OVER () AS allMs,
  sum(totalMsBefore) OVER () AS allMsBefore
FROM
(
  SELECT *, event_time >= toDateTime(${from}) AS isNow FROM $log(query_log) AS log
  WHERE ${between(before, to)} AND ${ended}
) AS log
GROUP BY normalized_query_hash
ORDER BY totalMs + totalMsBefore DESC, hash
LIMIT ${maxPatterns}`,
  },
  'error-codes': {
    requires: ['system.query_log'],
    sql: ({ before, from, to }) => `SELECT exception_code AS code,
  errorCodeToName(exception_code) AS name,
  countIf(event_time >= toDateTime(${from})) AS count,
  countIf(event_time < toDateTime(${from})) AS countBefore
FROM $log(query_log) AS log
WHERE ${between(before, to)} AND exception_code != 0 AND ${ended}
GROUP BY code
ORDER BY count DESC, code
LIMIT 200`,
  },
  watched: {
    requires: ['system.query_log'],
    sql: ({ from, to }) => `SELECT uniqExact(intDiv(toUnixTimestamp(event_time) - ${from}, 3600)) AS hours
FROM $log(query_log) AS log
WHERE ${between(from, to)} AND log.type != 'QueryStart' AND $own`,
  },
} satisfies Partial<Record<ReportRowSet, ReportSet>>

/** Row sets of the metric and part logs. */
const metricLogSets = {
  'disk-hours': {
    requires: ['system.asynchronous_metric_log'],
    sql: ({ to }) => String.raw`WITH least(toInt64(${to}), toInt64(toUnixTimestamp(now()))) AS ends
SELECT replaceRegexpOne(metric, '^Disk(Used|Total)_', '') AS disk,
  intDiv(ends - 1 - toInt64(toUnixTimestamp(event_time)), 3600) AS hoursAgo,
  maxIf(value, metric LIKE 'DiskUsed\_%') AS usedBytes,
  maxIf(value, metric LIKE 'DiskTotal\_%') AS totalBytes
FROM $log(asynchronous_metric_log)
WHERE ${between(to - diskDays * day, to)} AND event_time < ends AND (metric LIKE 'DiskUsed\_%' OR metric LIKE 'DiskTotal\_%')
GROUP BY disk, hoursAgo
ORDER BY disk, hoursAgo
LIMIT 5000`,
  },
  written: {
    requires: ['system.part_log'],
    sql: ({ before, from, to }) => `SELECT database, table,
  sumIf(log.rows, isNow) AS rows,
  sumIf(size_in_bytes, isNow) AS bytes,
  sumIf(log.rows, NOT isNow) AS rowsBefore,
  sumIf(size_in_bytes, NOT isNow) AS bytesBefore
FROM
(
  SELECT database, table, rows, size_in_bytes, event_time >= toDateTime(${from}) AS isNow FROM $log(part_log)
  WHERE ${between(before, to)} AND event_type = 'NewPart' AND ${outsideSystemDatabases}
) AS log
WHERE (database, table) IN (SELECT database, name FROM system.tables)
GROUP BY database, table
ORDER BY bytes DESC, database, table
LIMIT 2000`,
  },
  peaks: {
    requires: ['system.asynchronous_metric_log'],
    sql: ({ from, to }) => `SELECT metric, max(log.value) AS value, $ms(argMax(event_time, log.value)) AS atMs
FROM $log(asynchronous_metric_log) AS log
WHERE ${between(from, to)}
  AND metric IN ('MaxPartCountForPartition', 'ReplicasMaxAbsoluteDelay', 'ReplicasMaxQueueSize', 'MemoryResident', 'LoadAverage15')
GROUP BY metric
ORDER BY metric`,
  },
  merges: {
    requires: ['system.part_log'],
    sql: ({ from, to }) => `SELECT count() AS merges, countIf(error != 0) AS failed, max(duration_ms) AS longestMs
FROM $log(part_log)
WHERE ${between(from, to)} AND event_type = 'MergeParts' AND ${outsideSystemDatabases}`,
  },
  restarts: {
    requires: ['system.asynchronous_metric_log'],
    sql: ({ from, to }) => `SELECT countIf(value < before) AS restarts
FROM
(
  SELECT value, lagInFrame(value, 1, value) OVER (ORDER BY event_time ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
  FROM $log(asynchronous_metric_log)
  WHERE ${between(from, to)} AND metric = 'Uptime'
)`,
  },
} satisfies Partial<Record<ReportRowSet, ReportSet>>

/** Row sets of backups and certificates. */
const safeguardSets = {
  backups: {
    requires: ['system.backup_log'],
    sql: ({
      from,
      to,
    }) => `SELECT if(countIf(status = 'BACKUP_CREATED') = 0, NULL, $ms(maxIf(end_time, status = 'BACKUP_CREATED'))) AS succeededAtMs,
  countIf(status = 'BACKUP_FAILED' AND event_time >= toDateTime(${from})) AS failed
FROM $log(backup_log)
WHERE event_time < toDateTime(${to})`,
  },
  certificates: {
    requires: ['system.certificates'],
    sql: () => `SELECT count() AS certificates,
  $ms(min(parseDateTimeBestEffortOrNull(not_after))) AS expiresAtMs
FROM system.certificates
WHERE NOT default`,
  },
} satisfies Partial<Record<ReportRowSet, ReportSet>>

/** All row sets of reports, with their statements. */
export const reportStatements: Readonly<Record<ReportRowSet, ReportSet>> = {
  ...statementSets,
  ...metricLogSets,
  ...safeguardSets,
}
