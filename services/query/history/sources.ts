import type { CallContext } from '#proto/call.ts'
import { checkRequirements } from '../clickhouse/availability.ts'
import type { DatabaseClient, QueryResult } from '../clickhouse/client.ts'
import { expandMacros } from '../definitions/macros.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { bucketsPerOctave } from './aggregates.ts'
import { buildMetricCondition, type RecordedMetrics, selectColumns } from './recorded-metrics.ts'
import type { HistoryTable } from './schema.ts'
import type { HistoryRow } from './store.ts'

/** A period in epoch seconds of the clock of the host: `from` inclusive, `until` exclusive. */
export interface Period {
  from: number
  until: number
}

/** The host to read, with the dependencies of its statements. */
export interface SourceContext {
  client: DatabaseClient
  host: MonitoredHost
  recorded: RecordedMetrics
  call: CallContext
}

/** A source of the history, which is read from its own watermark into one table. */
export interface Source {
  name: 'metrics' | 'queries' | 'log-lines' | 'table-sizes'
  table: HistoryTable
  /** The log whose newest row shows how far the log is written; undefined for a source of the current state. */
  log: 'metric_log' | 'query_log' | 'text_log' | undefined
  /** Reads the rows of a period, without the columns `host`. */
  read(context: SourceContext, period: Period): Promise<HistoryRow[]>
}

/** Maximum number of patterns of one minute; the most frequent ones are kept. */
const maxPatterns = 2_000
/** Maximum number of tables of one minute or hour. */
const maxTables = 500
/** Maximum number of log lines of one minute. */
const maxLines = 100

/** Runs a statement on a log of the host. Returns no rows if the host lacks the log or does not let the user read it. */
const readLog = async (
  { client, host, call }: SourceContext,
  { from, until }: Period,
  { what, log, sql }: { what: string; log: string; sql: string },
): Promise<QueryResult['rows']> => {
  if (await checkRequirements(client, host, { requires: [`system.${log}`] }, call)) return []
  const { logs } = await client.capabilities(host, call)
  const window = { interval: undefined, since: `toDateTime(${from})`, until: `toDateTime(${until})` }
  const expanded = expandMacros(sql, { window, zone: undefined, logs })
  return (await client.run(host, { what: `history/${what}`, sql: expanded }, call)).rows
}

const minute = 'toUnixTimestamp(toStartOfMinute(event_time))'

const readMetricLog = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => {
  const columns = selectColumns(context.recorded.columns, await readMetricColumns(context))
  if (columns.length === 0) return []
  const list = (value: (column: string) => string) =>
    `[${columns.map((name) => `toFloat64(${value(name)})`).join(', ')}]`
  const rows = await readLog(context, period, {
    what: 'metric-log',
    log: 'metric_log',
    sql: `SELECT ${minute} AS minute, count() AS seconds,
  ${list((name) => `sum(${name})`)} AS sums,
  ${list((name) => `max(${name})`)} AS most
FROM $log(metric_log)
WHERE $window
GROUP BY minute`,
  })
  return rows.flatMap(([time, count, sums, most]) =>
    columns.map((metric, index) => ({ metric, time, count, sum: at(sums, index), highest: at(most, index) })),
  )
}

const at = (values: unknown, index: number): unknown => (Array.isArray(values) ? values[index] : undefined)

/** Columns of the metric log by host. They change only with the version of the host. */
const metricColumns = new WeakMap<MonitoredHost, { version: string; names: string[] }>()

const readMetricColumns = async ({ client, host, call }: SourceContext): Promise<string[]> => {
  const { version } = await client.capabilities(host, call)
  const known = metricColumns.get(host)
  if (known?.version === version) return known.names
  const sql = `SELECT name FROM system.columns WHERE database = 'system' AND table = 'metric_log' AND match(name, '^(CurrentMetric|ProfileEvent)_')`
  const { rows } = await client.run(host, { what: 'history/columns', sql }, call)
  const names = rows.map(([name]) => String(name))
  if (names.length > 0) metricColumns.set(host, { version, names })
  return names
}

/** The prefix of asynchronous metrics in the history, where all metrics share one column. */
export const asynchronousPrefix = 'AsynchronousMetric_'

const readAsynchronousMetrics = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => {
  const rows = await readLog(context, period, {
    what: 'asynchronous-metric-log',
    log: 'asynchronous_metric_log',
    sql: `SELECT ${minute} AS minute, metric, sum(value), count(), max(value)
FROM $log(asynchronous_metric_log)
WHERE $window AND ${buildMetricCondition(context.recorded.asynchronous)}
GROUP BY minute, metric`,
  })
  return rows.map(([time, metric, sum, count, highest]) => ({
    metric: `${asynchronousPrefix}${String(metric)}`,
    time,
    sum,
    count,
    highest,
  }))
}

const readPartLog = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => {
  const rows = await readLog(context, period, {
    what: 'part-log',
    log: 'part_log',
    sql: `SELECT ${minute} AS minute, toString(event_type) AS event, concat(database, '.', table) AS name,
  count(), sum(rows), max(rows), sum(size_in_bytes), max(size_in_bytes), sum(duration_ms), max(duration_ms), countIf(error > 0)
FROM $log(part_log)
WHERE $window
GROUP BY minute, event, name
ORDER BY minute, count() DESC, event, name
LIMIT ${maxTables} BY minute`,
  })
  return rows.flatMap(([time, event, label, count, ...values]) => {
    const [rowCount, highestRows, bytes, highestBytes, ms, highestMs, errors] = values
    const series = (what: string, sum: unknown, highest: unknown) => ({
      metric: `Part${String(event)}${what}`,
      label,
      time,
      sum,
      count,
      highest,
    })
    return [
      series('', count, 1),
      series('Rows', rowCount, highestRows),
      series('Bytes', bytes, highestBytes),
      series('Milliseconds', ms, highestMs),
      ...(Number(errors) > 0 ? [series('Errors', errors, 1)] : []),
    ]
  })
}

/** Errors by code: from the error log, which includes background errors, or from the query log of older servers. */
const readErrors = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => {
  const { tables } = await context.client.capabilities(context.host, context.call)
  const [log, sql] = tables.has('error_log')
    ? [
        'error_log',
        `SELECT ${minute} AS minute, toString(error) AS name, sum(value) AS total, max(value)
FROM $log(error_log) WHERE $window GROUP BY minute, name HAVING total > 0 ORDER BY minute, total DESC LIMIT ${maxTables} BY minute`,
      ]
    : [
        'query_log',
        `SELECT ${minute} AS minute, errorCodeToName(exception_code) AS name, count() AS total, 1
FROM $log(query_log) AS log WHERE $window AND exception_code != 0 AND NOT $own GROUP BY minute, name ORDER BY minute, total DESC LIMIT ${maxTables} BY minute`,
      ]
  const rows = await readLog(context, period, { what: 'errors', log, sql })
  return rows.map(([time, label, sum, highest]) => ({ metric: 'Error', label, time, sum, count: 1, highest }))
}

const bucketOf = (value: string): string => `[toUInt16(round(${bucketsPerOctave} * log2(1 + ${value})))], [toUInt64(1)]`

const histogram = (value: string): string => `sumMap(${bucketOf(value)})`

const cpuMicroseconds = "(ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds'])"

const patternColumns = {
  calls: 'count()',
  errors: "countIf(log.type != 'QueryFinish')",
  rejected: "countIf(log.type = 'ExceptionBeforeStart')",
  duration_ms: "sumIf(log.query_duration_ms, log.type != 'ExceptionBeforeStart')",
  cpu_us: `sum(${cpuMicroseconds})`,
  memory_bytes: 'sum(log.memory_usage)',
  peak_memory_bytes: 'max(log.memory_usage)',
  rows_read: 'sum(log.read_rows)',
  bytes_read: 'sum(log.read_bytes)',
  rows_written: 'sum(log.written_rows)',
  users: 'groupUniqArray(20)(log.user)',
  tables: 'arraySlice(groupUniqArrayArray(log.tables), 1, 20)',
} as const

const histogramColumns = {
  // Queries that were rejected before their start have no duration.
  durations: `sumMapIf(${bucketOf('log.query_duration_ms')}, log.type != 'ExceptionBeforeStart')`,
  cpu_times: histogram(cpuMicroseconds),
  memories: histogram('log.memory_usage'),
  row_counts: histogram('log.read_rows'),
  byte_counts: histogram('log.read_bytes'),
} as const

/** Maximum length of a recorded pattern, in characters. */
const maxPatternLength = 2_000

const readPatterns = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => {
  const plain = Object.entries(patternColumns)
  const maps = Object.entries(histogramColumns)
  const rows = await readLog(context, period, {
    what: 'query-log',
    log: 'query_log',
    sql: `SELECT ${minute} AS minute, toString(log.normalized_query_hash) AS hash, toString(log.query_kind) AS kind,
  leftUTF8(normalizeQuery(any(log.query)), ${maxPatternLength}) AS pattern,
  ${[...plain, ...maps].map(([name, value]) => `${value} AS ${name}`).join(',\n  ')}
FROM $log(query_log) AS log
WHERE $window AND log.type != 'QueryStart' AND log.is_initial_query AND NOT $own
GROUP BY minute, hash, kind
ORDER BY minute, calls DESC, hash, kind
LIMIT ${maxPatterns} BY minute`,
  })
  return rows.map(([time, hash, kind, pattern, ...values]) => ({
    time,
    hash,
    kind,
    pattern,
    ...Object.fromEntries(plain.map(([name], index) => [name, values[index]])),
    ...Object.fromEntries(maps.map(([name], index) => [name, toMap(values[plain.length + index])])),
  }))
}

/** Converts the two arrays of `sumMap` to an object. */
const toMap = (value: unknown): Record<string, unknown> => {
  const [keys, counts]: unknown[] = Array.isArray(value) ? value : []
  if (!Array.isArray(keys)) return {}
  return Object.fromEntries(keys.map((key, index) => [String(key), at(counts, index)]))
}

const readLines = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => {
  const rows = await readLog(context, period, {
    what: 'text-log',
    log: 'text_log',
    sql: `SELECT toUnixTimestamp(event_time) AS time, toString(log.level) AS severity, logger_name, $words(message)
FROM $log(text_log) AS log
WHERE $window AND log.level IN ('Fatal', 'Critical', 'Error') AND NOT startsWith(query_id, 'watchhouse-')
ORDER BY event_time, event_time_microseconds
LIMIT ${maxLines} BY toStartOfMinute(event_time)`,
  })
  return rows.map(([time, level, logger, message]) => ({ time, level, logger, message }))
}

const readTableSizes = async (context: SourceContext, { until }: Period): Promise<HistoryRow[]> => {
  const rows = await readLog(
    context,
    { from: 0, until },
    {
      what: 'table-sizes',
      log: 'parts',
      sql: `SELECT concat(database, '.', table) AS name, sum(bytes_on_disk) AS bytes, sum(rows), count()
FROM system.parts WHERE active
GROUP BY name ORDER BY bytes DESC, name LIMIT ${maxTables}`,
    },
  )
  return rows.flatMap(([label, ...values]) =>
    ['TableBytes', 'TableRows', 'TableParts'].map((metric, index) => {
      const sum = values[index]
      return { metric, label, time: until, sum, count: 1, highest: sum }
    }),
  )
}

const readMetrics = async (context: SourceContext, period: Period): Promise<HistoryRow[]> => [
  ...(await readMetricLog(context, period)),
  ...(await readAsynchronousMetrics(context, period)),
  ...(await readPartLog(context, period)),
  ...(await readErrors(context, period)),
]

/** The sources that are recorded for each host, one after another. */
export const sources: readonly Source[] = [
  { name: 'metrics', table: 'samples', log: 'metric_log', read: readMetrics },
  { name: 'queries', table: 'query_patterns', log: 'query_log', read: readPatterns },
  { name: 'log-lines', table: 'log_lines', log: 'text_log', read: readLines },
  { name: 'table-sizes', table: 'samples', log: undefined, read: readTableSizes },
]
