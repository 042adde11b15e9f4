import { quoteText } from '#shared/sql/statement-text.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { ChartWindow } from '../definitions/window.ts'
import type { AggregatedLog } from './aggregates.ts'
import { asynchronousPrefix } from './sources.ts'

/** What the history has of the logs whose rows it aggregates. */
export const aggregatedLogs: Readonly<Partial<Record<string, AggregatedLog>>> = {
  query_log: {
    measures: {
      query_duration_ms: { sum: 'duration_ms', histogram: 'durations' },
      memory_usage: { sum: 'memory_bytes', highest: 'peak_memory_bytes', histogram: 'memories' },
      read_rows: { sum: 'rows_read', histogram: 'row_counts' },
      read_bytes: { sum: 'bytes_read', histogram: 'byte_counts' },
      written_rows: { sum: 'rows_written' },
      "ProfileEvents['UserTimeMicroseconds'] + ProfileEvents['SystemTimeMicroseconds']": {
        sum: 'cpu_us',
        histogram: 'cpu_times',
      },
    },
    lists: { user: 'users' },
    unrecorded:
      /\b(?:ProfileEvents|Settings|exception\w*|written_bytes|result_\w+|query_cache_usage|query_id|query_start_time\w*|event_time_microseconds|databases|columns|client_\w+|http_\w+|interface|address|port|thread_ids|views|log_comment|initial_\w+|used_\w+)\b/,
    constant: /\bis_initial_query\b/,
  },
  part_log: {
    measures: {
      rows: { sum: 'part_rows', highest: 'most_rows' },
      size_in_bytes: { sum: 'part_bytes', highest: 'most_bytes' },
      duration_ms: { sum: 'part_ms', highest: 'longest_ms' },
    },
    lists: {},
    unrecorded:
      /\b(?:read_rows|read_bytes|peak_memory_usage|merge_reason|merge_algorithm|merged_from|part_name|part_type|partition\w*|path_on_disk|disk_name|exception|query_id|event_time_microseconds|ProfileEvents|dateDiff)\b/,
    constant: /$^/,
  },
}

const clock = 'toDateTime(toUnixTimestamp(time)) AS event_time, toDate(event_time) AS event_date'

/** Returns the table expressions that stand for the logs of a host in the SQL of a chart or table page. */
export const buildRecordedLogs = (
  sql: string,
  { key }: MonitoredHost,
  { since, until }: Pick<ChartWindow, 'since' | 'until'>,
): Map<string, string> => {
  const rows = (table: string, condition: string) =>
    `{table:${table}} AS recorded WHERE recorded.host = ${quoteText(key)} AND ${condition} AND recorded.time >= toStartOfHour(${since}) AND recorded.time < ${until}`
  const read = (columns: string, table: string, condition: string, end = '') =>
    `(SELECT ${clock}, ${columns} FROM ${rows(table, condition)}${end})`
  const isAsynchronous = `startsWith(recorded.metric, ${quoteText(asynchronousPrefix)})`
  // Only the row of a watermark has neither.
  const isPattern = "(recorded.hash != 0 OR recorded.kind != '')"
  return new Map([
    ['metric_log', buildMetricLog(sql, rows)],
    [
      'asynchronous_metric_log',
      read(
        `substring(recorded.metric, ${asynchronousPrefix.length + 1}) AS metric, sum / count AS value, highest`,
        'samples',
        isAsynchronous,
      ),
    ],
    ['error_log', read('recorded.label AS error, sum AS value', 'samples', "recorded.metric = 'Error'")],
    ['part_log', buildPartLog(rows)],
    ['query_log', buildQueryLog(read, isPattern)],
    ['query_patterns', read('*', 'query_patterns', isPattern)],
    ['log_lines', read('level, logger, message', 'log_lines', "recorded.level != ''")],
    ['table_sizes', buildTableSizes(rows)],
  ])
}

type ReadRows = (table: string, condition: string) => string

/** The history has one row per metric. The log has one column per metric. */
const buildMetricLog = (sql: string, rows: ReadRows): string => {
  const names = [...new Set([...sql.matchAll(/\b(?:CurrentMetric|ProfileEvent)_\w+/g)].map(([name]) => name))]
  const metrics = names.map((name) => name.replace(/_highest$/, ''))
  const columns = names.map((name) => {
    const isMetric = `metric = ${quoteText(name.replace(/_highest$/, ''))}`
    if (name.endsWith('_highest')) return `maxOrNullIf(highest, ${isMetric}) AS ${name}`
    if (name.startsWith('ProfileEvent_')) return `sumIf(sum, ${isMetric}) AS ${name}`
    return `sumOrNullIf(sum, ${isMetric}) / nullIf(sumIf(count, ${isMetric}), 0) AS ${name}`
  })
  const isListed = `recorded.metric IN (${['', ...metrics].map(quoteText).join(', ')}) AND recorded.metric != ''`
  return `(SELECT ${[clock, 'max(count) AS seconds', ...columns].join(', ')} FROM ${rows('samples', isListed)} GROUP BY time)`
}

const partEvents = ['NewPart', 'MergeParts', 'DownloadPart', 'RemovePart', 'MutatePart', 'MovePart'] as const
const partValues = ['', 'Rows', 'Bytes', 'Milliseconds', 'Errors'] as const

/** The history has one row per table, event and value. The log has the values of an event in one row. */
const buildPartLog = (rows: ReadRows): string => {
  const metrics = partEvents.flatMap((event) => partValues.map((value) => `Part${event}${value}`))
  const sum = (value: string) => `sumIf(sum, endsWith(metric, ${quoteText(value)}))`
  const highest = (value: string) => `maxIf(highest, endsWith(metric, ${quoteText(value)}))`
  const event = `extract(metric, '^Part(${partEvents.join('|')})')`
  const isCount = `metric IN (${partEvents.map((name) => quoteText(`Part${name}`)).join(', ')})`
  const grouped = `SELECT ${clock}, ${event} AS event_type, label, splitByChar('.', label)[1] AS database, substring(label, length(database) + 2) AS table,
    sumIf(sum, ${isCount}) AS events, ${sum('Errors')} AS failures,
    ${sum('Rows')} AS part_rows, ${highest('Rows')} AS most_rows, ${sum('Bytes')} AS part_bytes, ${highest('Bytes')} AS most_bytes,
    ${sum('Milliseconds')} AS part_ms, ${highest('Milliseconds')} AS longest_ms
  FROM ${rows('samples', `recorded.metric IN (${metrics.map(quoteText).join(', ')})`)}
  GROUP BY time, event_type, label`
  // Failed events have no rows, so all values belong to the others.
  const values = ['part_rows', 'most_rows', 'part_bytes', 'most_bytes', 'part_ms', 'longest_ms']
  const split = values.map((value) => `if(error = 0 OR events = failures, grouped.${value}, 0) AS ${value}`)
  return `(SELECT event_time, event_date, event_type, database, table, error, if(error = 0, events - failures, failures) AS weight,
  ${split.join(', ')}
FROM (SELECT *, arrayJoin([0, 1]) AS error FROM (${grouped})) AS grouped WHERE weight > 0)`
}

const queryValues = ['duration_ms', 'cpu_us', 'memory_bytes', 'rows_read', 'bytes_read', 'rows_written'] as const
const queryHistograms = ['durations', 'cpu_times', 'memories', 'row_counts', 'byte_counts'] as const

/**
 * The history has one row per pattern and minute, with its failed queries. The log has one row per query with its type,
 * so a row of the history becomes one row per type. The first one has the values of all.
 */
const buildQueryLog = (
  read: (columns: string, table: string, condition: string, end: string) => string,
  isPattern: string,
): string => {
  const first =
    "multiIf(calls > errors, 'QueryFinish', errors > rejected, 'ExceptionWhileProcessing', 'ExceptionBeforeStart')"
  const count =
    "multiIf(type = 'QueryFinish', toUInt64(calls - errors), type = 'ExceptionBeforeStart', rejected, toUInt64(errors - rejected))"
  const columns = [
    'recorded.hash AS normalized_query_hash, recorded.kind AS query_kind, recorded.pattern AS query, 1 AS is_initial_query, tables, users',
    `type, ${count} AS weight`,
    ...[...queryValues, 'peak_memory_bytes'].map((name) => `if(type = ${first}, recorded.${name}, 0) AS ${name}`),
    ...queryHistograms.map(
      (name) => `if(type = ${first}, recorded.${name}, CAST(map(), 'Map(UInt16, UInt64)')) AS ${name}`,
    ),
  ]
  const types = "ARRAY JOIN ['QueryFinish', 'ExceptionWhileProcessing', 'ExceptionBeforeStart'] AS type"
  return read(columns.join(', '), 'query_patterns', isPattern, ' AND weight > 0').replace(' WHERE ', ` ${types} WHERE `)
}

const buildTableSizes = (rows: ReadRows): string => {
  const value = (metric: string) => `sumIf(sum, metric = '${metric}') / nullIf(sumIf(count, metric = '${metric}'), 0)`
  return `(SELECT event_time, event_date, splitByChar('.', label)[1] AS database, substring(label, length(database) + 2) AS table, bytes, rows, parts
FROM (SELECT ${clock}, label, ${value('TableBytes')} AS bytes, ${value('TableRows')} AS rows, ${value('TableParts')} AS parts
FROM ${rows('samples', "recorded.metric IN ('TableBytes', 'TableRows', 'TableParts')")} GROUP BY time, label))`
}
