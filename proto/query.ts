import { z } from 'zod'
import { maxHours } from './time-limits.ts'
import { Catalogue, ChartInfo, TableInfo } from './catalogue.ts'
import { consoleMethods } from './console.ts'
import { actionMethods } from './actions.ts'
import { adviceDataMethods } from './advice-data.ts'
import { managementMethods } from './management.ts'
import { connectionsMethods } from './connections.ts'
import { managedHostMethods } from './managed-hosts.ts'
import { declareByteFrames, rpc, service, stream } from './contract.ts'
import { expositionMethods } from './exposition.ts'
import { DatabaseTable, ExportFormat, FilterOption, maxDatabaseTables, maxFilterOptions } from './table-page.ts'
import { explorerMethods } from './explorer.ts'
import { Explanation, ExplainMode, ExplainSettings, maxExplainStatementLength } from './explain.ts'
import {
  QueryExecution,
  ExecutionsRequest,
  QueryPatternSummary,
  QueryPatternDetail,
  QueryPatternHash,
  QueryPatternsRequest,
} from './fingerprints.ts'
import { QueryDetail, QueryId } from './query-detail.ts'
import { FleetMetrics, Host, HostKey, HostState, HostStatus, hostInput, hostDataReaders } from './host.ts'
import { fleetMethods } from './fleet.ts'
import { changeMethods } from './changes.ts'
import { HistoryPart, historyMethods } from './history.ts'
import { comparisonMethods } from './comparison.ts'
import { definitionStatementMethods } from './definition-statement.ts'
import { ownCostMethods } from './own-cost.ts'
import { patternChangeMethods } from './pattern-changes.ts'
import { pageViewMethods } from './page-views.ts'
import { postgresSourceMethods } from './postgres-source.ts'
import { settingsDiffMethods } from './settings-diff.ts'
import { toolRowMethods } from './tool-rows.ts'
import { topologyMethods } from './topology.ts'
import { insightRowMethods } from './insight-rows.ts'
import { reportRowMethods } from './report-rows.ts'
import { repldbMethods } from './repldb.ts'
import { ruleMethods } from './rules.ts'
import { structureAdviceDataMethods } from './structure-advice.ts'
import { Row, StatementExecution } from './statement.ts'
import { UnavailableReason } from './unavailable-reason.ts'
import { TimeRangeInput, UsedWindow, TimeWindow } from './time-window.ts'

/** Name of a chart or table page. An unknown name fails with `not-found` and suggests the nearest names. */
const RequestedName = z.string().min(1).max(128, 'must not be longer than 128 characters')

export * from './host.ts'
export * from './statement.ts'
export * from './time-window.ts'
export { UnavailableReason }

const primitiveSentence = 'must be text of at most 512 characters, a number, a boolean or null'
const primitive = z.union(
  [z.string().max(512, primitiveSentence), z.number(), z.boolean(), z.null()],
  primitiveSentence,
)
/** Values of chart placeholders: at most 20 values, whose names have at most 64 characters. */
export const PlaceholderValues = z
  .record(z.string().max(64), primitive)
  .refine((parameters) => Object.keys(parameters).length <= 20, 'must have at most 20 keys')

/** Rows of a chart with its window. */
export const ChartData = z.object({
  chart: ChartInfo,
  rows: z.array(Row),
  /** The window and bucket that were used; null for charts of current values. */
  window: UsedWindow.nullable(),
  unavailable: UnavailableReason.nullable(),
  statement: StatementExecution.nullable(),
  /** Absent if all rows are from the host. */
  history: HistoryPart.optional(),
})
export type ChartData = z.infer<typeof ChartData>

/** A chart of a batch: its data, or its failure. */
export const ChartResult = z.union([
  z.object({ ok: z.literal(true), data: ChartData }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      code: z.string(),
      message: z.string(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
])
export type ChartResult = z.infer<typeof ChartResult>

/** Operators that compare a column with values. */
export const filterOperators = [
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'contains',
  'notContains',
  'in',
  'notIn',
  'between',
  'withinHours',
] as const
/**
 * A condition on a column. `in` and `contains` match a row if any value matches, `notIn` and `notContains` if none
 * does. `between` takes two inclusive bounds. All other operators take one value.
 */
export const ColumnFilter = z.object({
  column: z.string().max(128),
  operator: z.enum(filterOperators),
  values: z.array(z.string().max(1024)).min(1).max(50),
})
export type ColumnFilter = z.infer<typeof ColumnFilter>

/** Filter, order and page of a table page. */
export const TableRequest = z.object({
  hostKey: HostKey,
  name: RequestedName,
  sort: z.object({ column: z.string().max(128), direction: z.enum(['asc', 'desc']) }).optional(),
  filters: z.array(ColumnFilter).max(20).default([]),
  /** Text to search for in all text columns. */
  search: z.string().max(256).optional(),
  limit: z.number().int().min(1).optional(),
  offset: z.number().int().min(0).default(0),
  /**
   * The page number, which starts at 1 and overrides the offset. A page has no more rows than a response can contain,
   * so that no rows are skipped.
   */
  page: z.number().int().min(1).optional(),
  /** `nextCursor` of the preceding page: the page begins after its last row, even if rows were added since. */
  cursor: z.string().max(2_048).optional(),
  parameters: PlaceholderValues.default({}),
  /** The time range of pages with the parameter `last_hours`; `lastHours` is an alias of that parameter. */
  ...TimeRangeInput.shape,
  timezone: z.string().max(64).optional(),
  /** Whether to count all rows if there are more than requested, which needs another statement. */
  total: z.boolean().default(false),
})
export type TableRequest = z.infer<typeof TableRequest>

/** Key metrics of one host. Metrics without data are null. */
export const HostOverview = z.object({
  runningQueries: z.number().nullable(),
  /** Queries that ended since midnight by the clock of the host, excluding those of the product. */
  todayQueries: z.number().nullable(),
  databaseCount: z.number().nullable(),
  tableCount: z.number().nullable(),
  /** Of all local disks. Several disks on one file system each count. */
  diskUsage: z.object({ usedBytes: z.number(), totalBytes: z.number(), percent: z.number() }).nullable(),
  hostInfo: HostStatus,
  metrics: FleetMetrics,
  /** Reasons for null values by field name, here and in `metrics`: a missing grant or table. */
  unavailable: z.record(z.string(), UnavailableReason).default({}),
})
export type HostOverview = z.infer<typeof HostOverview>

/**
 * The only client of the databases. Methods declared here only read; methods that write are in `actions.ts`,
 * `management.ts`, `page-views.ts`, `insight-rows.ts` and `structure-advice.ts`. Statements are queued, counted and
 * limited per host.
 */
export const query = service('query', {
  hosts: rpc({
    doc: 'Lists the configured hosts in order.',
    callers: hostDataReaders,
    safe: true,
    input: z.object({}),
    output: z.array(Host),
  }),
  hostStates: rpc({
    doc: 'Returns the last known state of every host, at most 10 seconds old; queries no host.',
    callers: hostDataReaders,
    safe: true,
    input: z.object({}),
    output: z.array(HostState),
  }),
  catalogue: rpc({
    doc: 'Returns all chart and table definitions without their SQL.',
    callers: hostDataReaders,
    safe: true,
    input: z.object({}),
    output: Catalogue,
  }),
  hostStatus: rpc({
    doc: 'Returns the current version, uptime and host name of a host; with `fleet` also its metrics.',
    callers: hostDataReaders,
    feature: 'OVERVIEW',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, fleet: z.boolean().default(false) }),
    output: HostStatus.extend({ metrics: FleetMetrics.nullable() }),
  }),
  overview: rpc({
    doc: 'Returns the key metrics of one host.',
    callers: hostDataReaders,
    feature: 'OVERVIEW',
    safe: true,
    prefer: 'hostKey',
    /** With `own`, the numbers of queries include those of Watchhouse itself. */
    input: z.object({ ...hostInput, own: z.boolean().optional() }),
    output: HostOverview,
  }),
  chart: rpc({
    doc: 'Returns the series of one chart. Also checks the feature of its definition.',
    callers: hostDataReaders,
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      name: RequestedName,
      ...TimeWindow.shape,
      parameters: PlaceholderValues.default({}),
    }),
    output: ChartData,
  }),
  charts: rpc({
    doc: 'Returns several charts of one host; each fails independently.',
    callers: hostDataReaders,
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      names: z.array(RequestedName).min(1).max(50),
      ...TimeWindow.shape,
      parameters: PlaceholderValues.default({}),
    }),
    output: z.record(RequestedName, ChartResult),
  }),
  table: stream({
    doc: 'Streams the rows of one table page as JSONEachRow, split at row boundaries; only a row longer than a frame continues in the next one.',
    callers: hostDataReaders,
    safe: true,
    prefer: 'hostKey',
    input: TableRequest,
    head: z.object({
      table: TableInfo,
      limit: z.number().int().nullable(),
      /** Maximum rows of any response or file; null without a limit. */
      maxRows: z.number().int().nullable().optional(),
      unavailable: UnavailableReason.nullable(),
      /** The range that is read from the history; absent if the rows are from the host. */
      history: HistoryPart.optional(),
    }),
    frames: declareByteFrames(),
    tail: z.object({
      truncated: z.boolean(),
      /** Number of rows that match the filters; null unless this is the last page or `total` is set. */
      total: z.number().int().nullable().optional(),
      /** The cursor of the next page; null on the last page, and if the page has no cursors. */
      nextCursor: z.string().nullable().optional(),
      statement: StatementExecution.nullable(),
    }),
  }),
  exportTable: stream({
    doc: 'Streams one table page as a file in the requested format, split after rows.',
    callers: hostDataReaders,
    safe: true,
    prefer: 'hostKey',
    input: TableRequest.omit({ cursor: true, total: true }).extend({ format: ExportFormat }),
    head: z.object({ table: TableInfo, limit: z.number().int().nullable(), unavailable: UnavailableReason.nullable() }),
    frames: declareByteFrames(),
    tail: z.object({ truncated: z.boolean(), rows: z.number().int() }),
  }),
  filterOptions: rpc({
    doc: 'Lists values of one column of a table page within filters and parameters, most rows first.',
    callers: hostDataReaders,
    safe: true,
    prefer: 'hostKey',
    input: TableRequest.omit({ sort: true, limit: true, offset: true, page: true, cursor: true, total: true }).extend({
      column: z.string().min(1).max(128),
    }),
    output: z.object({
      options: z.array(FilterOption).max(maxFilterOptions),
      truncated: z.boolean(),
      unavailable: UnavailableReason.nullable(),
    }),
  }),
  databaseTables: rpc({
    doc: 'Lists table names outside the system databases for autocompletion, most rows first.',
    callers: hostDataReaders,
    feature: 'TABLES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      /** Substring of `database.table`. */
      search: z.string().max(256).optional(),
      /** Maximum names. Callers request one more than they return, to detect that there are more. */
      limit: z
        .number()
        .int()
        .min(1)
        .max(maxDatabaseTables + 1)
        .default(maxDatabaseTables),
    }),
    output: z.array(DatabaseTable),
  }),
  fingerprints: rpc({
    doc: 'Lists query patterns within a window: calls, time and share of time, percentiles, errors, rows, bytes, memory, users.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, ...TimeWindow.shape, ...QueryPatternsRequest.shape }),
    output: z.object({
      fingerprints: z.array(QueryPatternSummary),
      /** Number of patterns; null if `offset` is beyond the last one. */
      total: z.number().int().nullable(),
      window: UsedWindow,
      unavailable: UnavailableReason.nullable(),
      statement: StatementExecution.nullable(),
    }),
  }),
  fingerprint: rpc({
    doc: 'Returns one pattern within a window: figures, history, executions and failures. `not-found` if it did not run.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      ...TimeWindow.shape,
      hash: QueryPatternHash,
      executions: z.number().int().min(1).max(200).default(50),
    }),
    output: z.object({
      detail: QueryPatternDetail.nullable(),
      window: UsedWindow,
      unavailable: UnavailableReason.nullable(),
    }),
  }),
  executions: rpc({
    doc: 'Lists executions of one pattern within a window, longest first, optionally within a range of durations.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, ...TimeWindow.shape, ...ExecutionsRequest.shape }),
    output: z.object({
      executions: z.array(QueryExecution),
      /** Total number of executions. */
      total: z.number().int(),
      window: UsedWindow,
      unavailable: UnavailableReason.nullable(),
    }),
  }),
  queryDetail: rpc({
    doc: 'Returns one query by its id: figures, settings, profile events, threads, views, processors and subqueries. `not-found` if no log contains it.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...hostInput, queryId: QueryId, lastHours: z.number().int().min(1).max(maxHours).default(336) }),
    output: z.object({ detail: QueryDetail.nullable(), unavailable: UnavailableReason.nullable() }),
  }),
  explain: rpc({
    doc: 'Returns the EXPLAIN output of a statement. Rejects statements that do not only read. Runs read-only within limits, because subqueries may be executed.',
    callers: hostDataReaders,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...hostInput,
      query: z.string().max(maxExplainStatementLength),
      mode: ExplainMode.default('plan'),
      planSettings: ExplainSettings.default({}),
      /** The default database of the statement. */
      database: z.string().min(1).max(128).optional(),
    }),
    output: Explanation,
  }),
  ...connectionsMethods,
  ...managedHostMethods,
  ...actionMethods,
  ...managementMethods,
  ...expositionMethods,
  ...fleetMethods,
  ...consoleMethods,
  ...explorerMethods,
  ...ownCostMethods,
  ...pageViewMethods,
  ...postgresSourceMethods,
  ...settingsDiffMethods,
  ...comparisonMethods,
  ...patternChangeMethods,
  ...toolRowMethods,
  ...topologyMethods,
  ...ruleMethods,
  ...adviceDataMethods,
  ...insightRowMethods,
  ...reportRowMethods,
  ...structureAdviceDataMethods,
  ...definitionStatementMethods,
  ...repldbMethods,
  ...historyMethods,
  ...changeMethods,
})
