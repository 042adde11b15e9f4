/** Returns SQL for the age in full units of `seconds`, by the clock of the host. Future times have a negative age. */
const ago = (time: string, seconds: number): string =>
  `toInt32(floor((toInt64(toUnixTimestamp(now())) - toInt64(toUnixTimestamp(${time}))) / ${seconds}))`
const hours = (time = 'event_time'): string => ago(time, 3_600)
const days = ago('event_time', 86_400)

/** Condition for ended queries of clients, without the statements of Watchhouse. */
const ended = `log.type != 'QueryStart' AND is_initial_query AND NOT $own`
const lastDays = (count: number): string => `event_date >= today() - ${count}`
const historyHours = (log: string, kept: number): string =>
  `ifNull((SELECT toInt64(dateDiff('hour', min(event_time), now())) FROM $log(${log}) WHERE ${lastDays(kept)}), 0)`

/** Maximum number of query patterns: the most expensive ones of the last day. */
const maxPatterns = 50

/** Insight statements on `query_log`, `part_log` and `asynchronous_metric_log`, by the name of their result. */
export const logRowSets = {
  'query-hours': {
    requires: ['system.query_log'],
    sql: `SELECT ${hours()} AS hoursAgo,
  count() AS calls,
  countIf(log.type != 'QueryFinish') AS errors,
  quantile(0.95)(query_duration_ms) AS p95Ms,
  max(memory_usage) AS peakMemoryBytes
FROM $log(query_log) AS log
WHERE ${lastDays(30)} AND ${ended}
GROUP BY hoursAgo
ORDER BY hoursAgo`,
  },
  'error-codes': {
    requires: ['system.query_log'],
    sql: `SELECT exception_code AS code,
  errorCodeToName(exception_code) AS name,
  countIf(${days} = 0) AS recent,
  countIf(${days} BETWEEN 1 AND 7) AS before,
  ${historyHours('query_log', 9)} AS historyHours
FROM $log(query_log) AS log
WHERE ${lastDays(9)} AND exception_code != 0 AND ${ended}
GROUP BY code
ORDER BY recent DESC, code
LIMIT 200`,
  },
  'fingerprint-days': {
    requires: ['system.query_log'],
    sql: `WITH
  costliest AS (
    SELECT normalized_query_hash FROM $log(query_log) AS log
    WHERE ${lastDays(2)} AND ${days} = 0 AND ${ended}
    GROUP BY normalized_query_hash ORDER BY sum(query_duration_ms) DESC LIMIT ${maxPatterns}
  ),
  (SELECT sum(query_duration_ms) FROM $log(query_log) AS log WHERE ${lastDays(2)} AND ${days} = 0 AND ${ended}) AS lastDayMs
SELECT toString(normalized_query_hash) AS hash,
  ${days} AS daysAgo,
  any(toString(query_kind)) AS kind,
  count() AS calls,
  sum(query_duration_ms) AS totalMs,
  quantile(0.95)(query_duration_ms) AS p95Ms,
  avg(log.read_rows) AS readRows,
  avg(ProfileEvents['SelectedParts']) AS selectedParts,
  sum(ProfileEvents['SelectedMarks']) / nullIf(sum(ProfileEvents['SelectedMarksTotal']), 0) AS marksShare,
  max(revision) AS revision,
  toString(cityHash64(toString(any(mapFilter((name, value) -> name != 'log_comment', Settings))))) AS settingsHash,
  any(log.tables) AS tables,
  toUInt64(ifNull(lastDayMs, 0)) AS dayTotalMs,
  ${historyHours('query_log', 9)} AS historyHours
FROM $log(query_log) AS log
WHERE ${lastDays(9)} AND ${days} <= 7 AND ${ended} AND normalized_query_hash IN costliest
GROUP BY normalized_query_hash, daysAgo
ORDER BY hash, daysAgo`,
  },
  'schema-changes': {
    requires: ['system.query_log'],
    sql: `SELECT arrayJoin(log.tables) AS table, ${days} AS daysAgo, count() AS changes
FROM $log(query_log) AS log
WHERE ${lastDays(9)} AND log.type = 'QueryFinish' AND query_kind IN ('Create', 'Alter', 'Drop', 'Rename')
GROUP BY table, daysAgo
ORDER BY table, daysAgo
LIMIT 1000`,
  },
  inserts: {
    requires: ['system.part_log'],
    sql: `SELECT database, table,
  sumIf(rows, hour = 0) AS lastHour,
  sumIf(rows, hour = 24) AS dayAgo,
  sumIf(rows, hour = 168) AS weekAgo,
  uniqExactIf(hour, hour BETWEEN 1 AND 24) AS activeHours,
  ${historyHours('part_log', 9)} AS historyHours
FROM
(
  SELECT database, table, rows, ${hours()} AS hour FROM $log(part_log)
  WHERE ${lastDays(9)} AND event_type = 'NewPart' AND database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')
)
WHERE (database, table) IN (SELECT database, name FROM system.tables)
GROUP BY database, table
ORDER BY dayAgo DESC, database, table
LIMIT 1000`,
  },
  'disk-hours': {
    requires: ['system.asynchronous_metric_log'],
    sql: String.raw`SELECT replaceRegexpOne(metric, '^Disk(Used|Total)_', '') AS disk,
  ${hours()} AS hoursAgo,
  maxIf(value, metric LIKE 'DiskUsed\_%') AS usedBytes,
  maxIf(value, metric LIKE 'DiskTotal\_%') AS totalBytes
FROM $log(asynchronous_metric_log)
WHERE ${lastDays(15)} AND (metric LIKE 'DiskUsed\_%' OR metric LIKE 'DiskTotal\_%')
GROUP BY disk, hoursAgo
HAVING hoursAgo < 336
ORDER BY disk, hoursAgo
LIMIT 5000`,
  },
  'part-hours': {
    requires: ['system.asynchronous_metric_log', 'system.merge_tree_settings'],
    sql: `SELECT ${hours()} AS hoursAgo,
  max(value) AS parts,
  (SELECT max(toFloat64OrZero(value)) FROM system.merge_tree_settings WHERE name = 'parts_to_throw_insert') AS refusedAt
FROM $log(asynchronous_metric_log)
WHERE ${lastDays(3)} AND metric = 'MaxPartCountForPartition'
GROUP BY hoursAgo
HAVING hoursAgo < 48
ORDER BY hoursAgo`,
  },
} satisfies Record<string, InsightStatement>

/** A fixed statement whose rows the insight detectors evaluate. */
export interface InsightStatement {
  /** Required tables, which a server may not have. */
  requires: readonly string[]
  /** Sent without settings, which would appear among the changed settings of the host. */
  bare?: true
  /** SQL with the macros of definitions. */
  sql: string
}

const outsideSystemDatabases = `database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')`

const changedSettings = ['settings', 'server_settings', 'merge_tree_settings'].map(
  (table) => `SELECT name, toString(cityHash64(value)) AS valueHash FROM system.${table} WHERE changed`,
)

/** Row sets of the current state: tables, parts, replicas, mutations, running queries and settings. */
export const currentStateRowSets = {
  tables: {
    requires: ['system.parts'],
    sql: `SELECT database, table,
  sum(partsHere) AS parts,
  max(partsHere) AS partsInFullestPartition,
  sum(rowsHere) AS rows,
  sum(compressed) AS compressedBytes,
  sum(uncompressed) AS uncompressedBytes
FROM
(
  SELECT database, table, partition_id, count() AS partsHere, sum(rows) AS rowsHere,
    sum(data_compressed_bytes) AS compressed, sum(data_uncompressed_bytes) AS uncompressed
  FROM system.parts
  WHERE active AND ${outsideSystemDatabases}
  GROUP BY database, table, partition_id
)
GROUP BY database, table
ORDER BY compressedBytes DESC, database, table
LIMIT 2000`,
  },
  'expired-parts': {
    requires: ['system.parts'],
    sql: `SELECT database, table,
  count() AS parts,
  max(dateDiff('hour', delete_ttl_info_max, now())) AS oldestHours,
  sum(bytes_on_disk) AS bytes
FROM system.parts
WHERE active AND ${outsideSystemDatabases} AND delete_ttl_info_max > toDateTime(0) AND delete_ttl_info_max < now() - 86400
GROUP BY database, table
ORDER BY parts DESC, database, table
LIMIT 500`,
  },
  replicas: {
    requires: ['system.replicas'],
    sql: `SELECT database, table, is_readonly AS isReadonly, absolute_delay AS delaySeconds
FROM system.replicas
ORDER BY is_readonly DESC, absolute_delay DESC, database, table
LIMIT 500`,
  },
  'detached-parts': {
    requires: ['system.detached_parts'],
    sql: `SELECT database, table, count() AS parts
FROM system.detached_parts
WHERE ${outsideSystemDatabases}
GROUP BY database, table
ORDER BY parts DESC, database, table
LIMIT 500`,
  },
  mutations: {
    requires: ['system.mutations'],
    sql: `SELECT database, table, mutation_id AS mutationId,
  dateDiff('second', create_time, now()) AS ageSeconds,
  parts_to_do AS partsToDo,
  latest_fail_reason != '' AS isFailing
FROM system.mutations
WHERE NOT is_done
ORDER BY create_time, database, table
LIMIT 500`,
  },
  'running-queries': {
    requires: ['system.processes'],
    sql: `SELECT toString(normalizedQueryHash(query)) AS hash, user, toString(query_kind) AS kind, elapsed AS elapsedSeconds
FROM system.processes
WHERE is_initial_query AND http_user_agent != 'watchhouse'
ORDER BY elapsed DESC
LIMIT 100`,
  },
  settings: {
    requires: ['system.settings', 'system.server_settings', 'system.merge_tree_settings'],
    bare: true,
    sql: `SELECT name, any(valueHash) AS valueHash FROM (${changedSettings.join(' UNION ALL ')}) GROUP BY name ORDER BY name LIMIT 1000`,
  },
  dictionaries: {
    requires: ['system.dictionaries'],
    sql: `SELECT database, name, toString(status) AS status, last_exception != '' AS isFailing
FROM system.dictionaries
ORDER BY database, name
LIMIT 500`,
  },
} satisfies Record<string, InsightStatement>
