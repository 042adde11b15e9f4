import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { Feature } from './call.ts'

/** File name of a definition without its suffix: the id in URLs. */
export const DefinitionId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 lower case letters, digits, dashes or underscores')

/** The unit of a number, for formatting by the web UI. Durations and sizes are raw numbers, never formatted by SQL. */
export const Unit = z.enum([
  'count',
  'bytes',
  'bytes-per-second',
  'rows',
  'rows-per-second',
  'seconds',
  'milliseconds',
  'microseconds',
  'percent',
  'ratio',
  'per-second',
  'per-minute',
  'yes-no',
  'level',
  'none',
])
export type Unit = z.infer<typeof Unit>

/** Bucket widths of time series, shortest first: the allowed values of the `interval` parameter. */
export const intervals = [
  'toStartOfFiveSeconds',
  'toStartOfTenSeconds',
  'toStartOfFifteenSeconds',
  'toStartOfThirtySeconds',
  'toStartOfMinute',
  'toStartOfFiveMinutes',
  'toStartOfTenMinutes',
  'toStartOfFifteenMinutes',
  'toStartOfHour',
  'toStartOfDay',
  'toStartOfWeek',
  'toStartOfMonth',
] as const
/** The bucket width of a time series. */
export const Interval = z.enum(intervals)
export type Interval = z.infer<typeof Interval>

const Version = z.string().regex(/^\d{1,2}(\.\d{1,2})?$/, 'must be a server version such as 24.3')

/** One statement, or one per server version: the highest `since` not above the server version is used. */
export const VersionedSql = z.union([
  z.string().min(1),
  z.array(z.strictObject({ since: Version, sql: z.string().min(1) })).min(1),
])
export type VersionedSql = z.infer<typeof VersionedSql>

/** Cache lifetime of a response: `realtime` 10 s, `standard` 30 s, `historical` 120 s. */
export const CacheClass = z.enum(['realtime', 'standard', 'historical'])
export type CacheClass = z.infer<typeof CacheClass>

const descriptionFields = {
  title: z.string().min(1).max(80),
  /** Description in one sentence. */
  doc: z.string().min(1).max(400),
  feature: Feature,
  /**
   * Tables, as `database.table`, that a server may lack. If one is missing, the response is `unavailable`, not an
   * error. `$events` is the table of `EVENTS_TABLE_NAME`, here and in `sql`.
   */
  requires: z.array(z.string().regex(/^(?:\$events|[\w$]+\.[\w$]+)$/)).default([]),
  /** Whether to send no settings, because the statement reads them. Only the client timeout limits its run time. */
  bare: z.boolean().optional(),
  sql: VersionedSql,
  /** A statement on the logs of the history, which returns the same columns, if it cannot be derived from `sql`. */
  history: z.string().min(1).optional(),
}

/** A parameter of a chart or table page, bound as a query parameter of the ClickHouse type `type`. */
const Parameter = z.strictObject({
  name: z.string().regex(/^[a-z][a-z_]{0,31}$/),
  type: z.string().min(1),
  default: z.union([z.string(), z.number()]),
  doc: z.string(),
})

/** A path of the web UI with `{column}` placeholders. */
export const RowsPath = z.string().regex(/^\/\w/, 'must be a path such as /tables/failed-queries')

/**
/**
 * A column of a chart. A `link` column is not shown; placeholders of `href` refer to it. A `time` column contains epoch
 * milliseconds. Missing buckets are filled in: with null if the value column is nullable, else with 0.
 */
const ChartColumn = z.strictObject({
  name: z.string().min(1),
  role: z.enum(['time', 'series', 'label', 'value', 'link']),
  label: z.string().optional(),
  unit: Unit.default('count'),
  /**
   * Set for a value that is a total of its time bucket. The web UI shows it per second or per minute, so that it does
   * not depend on the length of a bucket. `bucket` is for rare events, whose totals are shown with the length.
   */
  per: z.enum(['second', 'minute', 'bucket']).optional(),
  /** The page of a label, or the page with the rows behind a value if it differs from that of the chart. */
  href: RowsPath.optional(),
})

/** The shape of `charts/<topic>/<id>.chart.yaml`. */
export const ChartDefinition = z.strictObject({
  ...descriptionFields,
  /**
   * A `bar` chart has a time axis, or one bar per label as a histogram. A `heatmap` has one square per bucket, shaded
   * by its first value: daily buckets are in one column per week, shorter ones in one column per day. A `gauge` shows a
   * percentage per label, and a `treemap` the size of each label and its series. A `timeline` shows events with start
   * and duration, one lane per series.
   */
  kind: z.enum([
    'line',
    'area',
    'stacked-area',
    'bar',
    'stacked-bar',
    'horizontal-bar',
    'heatmap',
    'gauge',
    'treemap',
    'timeline',
    'number',
    'list',
  ]),
  /** The page with the rows behind a bar or point. Without it, the first table page that lists the chart. */
  href: RowsPath.optional(),
  columns: z.array(ChartColumn).min(1),
  /** Default bucket of a time series; charts of current values have none. */
  interval: Interval.optional(),
  /** Shortest bucket, for a log with fewer rows than one every five seconds. A shorter one would be mostly empty. */
  minInterval: Interval.optional(),
  /** Default window in hours; charts of current values have none. */
  lastHours: z.number().int().min(1).max(maxHours).optional(),
  parameters: z.array(Parameter).default([]),
  cache: CacheClass.default('standard'),
})
export type ChartDefinition = z.infer<typeof ChartDefinition>

/** How a cell is shown. `time` and `relative-time` cells are epoch milliseconds. */
export const CellFormat = z.enum([
  'text',
  'code',
  'number',
  'bytes',
  'rows',
  'duration-seconds',
  'duration-ms',
  'duration-us',
  'percent',
  'ratio',
  'time',
  'relative-time',
  'boolean',
  'badge',
  'list',
  'query',
  'link',
])
export type CellFormat = z.infer<typeof CellFormat>

/** The display of a status that a host reports: a word, a shape and a color. */
export const StatusDisplay = z.strictObject({
  word: z.string().min(1).max(24),
  status: z.enum(['ok', 'running', 'warning', 'failed', 'off']),
})
export type StatusDisplay = z.infer<typeof StatusDisplay>

const TableColumn = z.strictObject({
  name: z.string().min(1),
  label: z.string().optional(),
  doc: z.string().optional(),
  format: CellFormat.default('text'),
  /** Whether the cell has a bar relative to the maximum of the column. */
  bar: z.boolean().default(false),
  /** Whether the column is hidden until the user selects it. */
  hidden: z.boolean().default(false),
  /** Target of a `link` cell: a path with `{column}` placeholders. */
  href: z.string().optional(),
  /** The display of the values of a `badge`. Other values are shown unchanged. */
  states: z.record(z.string(), StatusDisplay).optional(),
})

/** The shape of `charts/<topic>/<id>.table.yaml`. `query` wraps `sql` to sort, filter, search and page its rows. */
export const TableDefinition = z.strictObject({
  ...descriptionFields,
  columns: z.array(TableColumn).min(1),
  sort: z.strictObject({ column: z.string(), direction: z.enum(['asc', 'desc']) }).optional(),
  /** Columns that identify a row and order rows with equal sort values; all columns by default. */
  key: z.array(z.string()).min(1).max(4).optional(),
  /**
   * The column with the time of a log whose primary key is `event_date, event_time`; `sql` also selects these two. Rows
   * that are sorted by this column are read from the end of the log.
   */
  logTime: z.string().optional(),
  parameters: z.array(Parameter).default([]),
  /** Charts shown above the rows. */
  charts: z.array(DefinitionId).default([]),
  actions: z.array(z.enum(['kill-query', 'optimize-table', 'kill-mutation'])).default([]),
  refreshSeconds: z.number().int().min(5).optional(),
})
export type TableDefinition = z.infer<typeof TableDefinition>

/** A chart definition for clients, without its SQL. */
export const ChartInfo = ChartDefinition.omit({ sql: true, history: true }).extend({
  name: DefinitionId,
  topic: z.string(),
})
export type ChartInfo = z.infer<typeof ChartInfo>

/** A table page definition for clients, without its SQL. */
export const TableInfo = TableDefinition.omit({ sql: true, history: true, key: true, logTime: true }).extend({
  name: DefinitionId,
  topic: z.string(),
})
export type TableInfo = z.infer<typeof TableInfo>

/** A folder of `charts/`, which is an entry of the menu. */
export const ChartTopic = z.object({ id: z.string(), title: z.string() })
export type ChartTopic = z.infer<typeof ChartTopic>

/** All definitions in force, in menu order. */
export const Catalogue = z.object({
  topics: z.array(ChartTopic).default([]),
  charts: z.array(ChartInfo),
  tables: z.array(TableInfo),
})
export type Catalogue = z.infer<typeof Catalogue>
