import { z } from 'zod'
import { Catalogue, ChartInfo, TableInfo } from './catalogue.ts'
import { consoleMethods } from './console.ts'
import { actionMethods } from './actions.ts'
import { advisingMethods } from './advising.ts'
import { managementMethods } from './management.ts'
import { connectionsMethods } from './connections.ts'
import { bytes, rpc, service, stream } from './contract.ts'
import { expositionMethods } from './exposition.ts'
import { DatabaseTable, ExportFormat, FilterOption, maxDatabaseTables, maxFilterOptions } from './table-page.ts'
import { explorerMethods } from './explorer.ts'
import { Explanation, ExplainMode, ExplainSettings, longestExplained } from './explain.ts'
import {
  Execution,
  ExecutionsRequest,
  Fingerprint,
  FingerprintDetail,
  FingerprintHash,
  FingerprintsRequest,
} from './fingerprints.ts'
import { QueryDetail, QueryId } from './query-detail.ts'
import { FleetMetrics, Host, HostKey, HostState, HostStatus, ofHost, readers } from './host.ts'
import { fleetMethods } from './fleet.ts'
import { comparisonMethods } from './comparison.ts'
import { definitionStatementMethods } from './definition-statement.ts'
import { ownCostMethods } from './own-cost.ts'
import { pageViewMethods } from './page-views.ts'
import { postgresSourceMethods } from './postgres-source.ts'
import { settingsDiffMethods } from './settings-diff.ts'
import { toolRowMethods } from './tool-rows.ts'
import { topologyMethods } from './topology.ts'
import { insightRowMethods } from './insight-rows.ts'
import { reportRowMethods } from './report-rows.ts'
import { repldbMethods } from './repldb.ts'
import { ruleMethods } from './rules.ts'
import { structureFactMethods } from './structure-advice.ts'
import { Row, StatementFacts } from './statement.ts'
import { Unavailable } from './unavailable.ts'
import { Span, UsedWindow, Window } from './window.ts'

/** A chart or table page as a caller names it; a name that is none is `not-found` with the nearest that are. */
const AskedName = z.string().min(1).max(128, 'must not be longer than 128 characters')

export * from './host.ts'
export * from './statement.ts'
export * from './window.ts'
export { Unavailable }

const primitiveSentence = 'must be text of at most 512 characters, a number, a boolean or null'
const primitive = z.union(
  [z.string().max(512, primitiveSentence), z.number(), z.boolean(), z.null()],
  primitiveSentence,
)
/** Extra values for a chart's placeholders: at most 20 keys of 64 characters. */
export const Parameters = z
  .record(z.string().max(64), primitive)
  .refine((parameters) => Object.keys(parameters).length <= 20, 'at most 20 keys')

/** Rows of one chart and what is needed to draw them. */
export const ChartData = z.object({
  chart: ChartInfo,
  rows: z.array(Row),
  /** The window and bucket that were used; null for charts of the present moment. */
  window: UsedWindow.nullable(),
  unavailable: Unavailable.nullable(),
  statement: StatementFacts.nullable(),
})
export type ChartData = z.infer<typeof ChartData>

/** One chart of a batch: its data, or the failure that it alone would have had. */
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

/** How a column may be compared with the given values. */
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
 * One condition on one column. Several values mean any of them, for `notContains` and `notIn` none of them, and for
 * `between` the first and the last that count.
 */
export const Filter = z.object({
  column: z.string().max(128),
  operator: z.enum(filterOperators),
  values: z.array(z.string().max(1024)).min(1).max(50),
})
export type Filter = z.infer<typeof Filter>

/** Which rows of a table page, in which order. */
export const TableRequest = z.object({
  hostKey: HostKey,
  name: AskedName,
  sort: z.object({ column: z.string().max(128), direction: z.enum(['asc', 'desc']) }).optional(),
  filters: z.array(Filter).max(20).default([]),
  /** Text looked for in every text column. */
  search: z.string().max(256).optional(),
  limit: z.number().int().min(1).optional(),
  offset: z.number().int().min(0).default(0),
  /** Counts from 1 and wins over the offset: pages as long as the answer may be, so that none leaves rows out. */
  page: z.number().int().min(1).optional(),
  parameters: Parameters.default({}),
  /** For pages that look back: those with the parameter `last_hours`, for which `lastHours` is another word. */
  ...Span.shape,
  timezone: z.string().max(64).optional(),
  /** Count all rows when there are more than were asked for; one statement more. */
  total: z.boolean().default(false),
})
export type TableRequest = z.infer<typeof TableRequest>

/** Key figures of one host; null where it cannot tell. */
export const Overview = z.object({
  runningQueries: z.number().nullable(),
  /** Since midnight by the host's clock, without the product's own statements. */
  todayQueries: z.number().nullable(),
  databaseCount: z.number().nullable(),
  tableCount: z.number().nullable(),
  diskUsage: z.object({ usedBytes: z.number(), totalBytes: z.number(), percent: z.number() }).nullable(),
  hostInfo: HostStatus,
  metrics: FleetMetrics,
  /** Why figures are null, by their names here and in `metrics`, where a right or a table is missing. */
  unavailable: z.record(z.string(), Unavailable).default({}),
})
export type Overview = z.infer<typeof Overview>

/**
 * The only client of the databases. What is declared here reads; methods that write stand in `actions.ts`, `management.ts`,
 * `page-views.ts`, `insight-rows.ts` and `structure-advice.ts`. Each host's statements are queued, counted and bounded on their own.
 */
export const query = service('query', {
  hosts: rpc({
    doc: 'The configured hosts in their order.',
    callers: readers,
    safe: true,
    input: z.object({}),
    output: z.array(Host),
  }),
  hostStates: rpc({
    doc: 'Last known state of every host, at most 10 seconds old; asks no host.',
    callers: readers,
    safe: true,
    input: z.object({}),
    output: z.array(HostState),
  }),
  catalogue: rpc({
    doc: 'All chart and table definitions in force, without their SQL.',
    callers: readers,
    safe: true,
    input: z.object({}),
    output: Catalogue,
  }),
  hostStatus: rpc({
    doc: 'Version, uptime and host name as the host says them now; with `fleet` the metric bundle too.',
    callers: readers,
    feature: 'OVERVIEW',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, fleet: z.boolean().default(false) }),
    output: HostStatus.extend({ metrics: FleetMetrics.nullable() }),
  }),
  overview: rpc({
    doc: 'The key figures of one host in one batch.',
    callers: readers,
    feature: 'OVERVIEW',
    safe: true,
    prefer: 'hostKey',
    input: z.object(ofHost),
    output: Overview,
  }),
  chart: rpc({
    doc: 'The series of one chart. The feature of its definition is checked too.',
    callers: readers,
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, name: AskedName, ...Window.shape, parameters: Parameters.default({}) }),
    output: ChartData,
  }),
  charts: rpc({
    doc: 'Several charts of one host in one answer; each fails alone.',
    callers: readers,
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      names: z.array(AskedName).min(1).max(50),
      ...Window.shape,
      parameters: Parameters.default({}),
    }),
    output: z.record(AskedName, ChartResult),
  }),
  table: stream({
    doc: 'The rows of one table page as the host sent them: JSONEachRow, cut at row boundaries; only a row longer than a frame is continued in the next.',
    callers: readers,
    safe: true,
    prefer: 'hostKey',
    input: TableRequest,
    head: z.object({
      table: TableInfo,
      limit: z.number().int().nullable(),
      /** Most rows of any answer or file, whatever is asked for; null without a cap. */
      mostRows: z.number().int().nullable().optional(),
      unavailable: Unavailable.nullable(),
    }),
    frames: bytes(),
    tail: z.object({
      truncated: z.boolean(),
      /** All rows that the filters leave, where it is known: on the last page, or when asked. */
      total: z.number().int().nullable().optional(),
      statement: StatementFacts.nullable(),
    }),
  }),
  exportTable: stream({
    doc: "One table page for a file: the host's own bytes in the asked format, cut after rows.",
    callers: readers,
    safe: true,
    prefer: 'hostKey',
    input: TableRequest.omit({ total: true }).extend({ format: ExportFormat }),
    head: z.object({ table: TableInfo, limit: z.number().int().nullable(), unavailable: Unavailable.nullable() }),
    frames: bytes(),
    tail: z.object({ truncated: z.boolean(), rows: z.number().int() }),
  }),
  filterOptions: rpc({
    doc: 'Values of one column of a table page, those of most rows first, within the filters and parameters given.',
    callers: readers,
    safe: true,
    prefer: 'hostKey',
    input: TableRequest.omit({ sort: true, limit: true, offset: true, page: true, total: true }).extend({
      column: z.string().min(1).max(128),
    }),
    output: z.object({
      options: z.array(FilterOption).max(maxFilterOptions),
      truncated: z.boolean(),
      unavailable: Unavailable.nullable(),
    }),
  }),
  databaseTables: rpc({
    doc: 'Names of tables outside the system databases, those of most rows first, for autocompletion.',
    callers: readers,
    feature: 'TABLES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      /** Text that `database.table` contains. */
      search: z.string().max(256).optional(),
      /** One more than callers are shown, so that they can be told that there are more. */
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
    doc: 'Patterns of statements within a window: calls, time and share of time, percentiles, errors, rows, bytes, memory, users.',
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, ...Window.shape, ...FingerprintsRequest.shape }),
    output: z.object({
      fingerprints: z.array(Fingerprint),
      /** How many patterns there are; null when `offset` leads beyond the last. */
      total: z.number().int().nullable(),
      window: UsedWindow,
      unavailable: Unavailable.nullable(),
      statement: StatementFacts.nullable(),
    }),
  }),
  fingerprint: rpc({
    doc: 'One pattern within a window: its figures, their course, executions and failures. `not-found` when it did not run.',
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      ...Window.shape,
      hash: FingerprintHash,
      executions: z.number().int().min(1).max(200).default(50),
    }),
    output: z.object({
      detail: FingerprintDetail.nullable(),
      window: UsedWindow,
      unavailable: Unavailable.nullable(),
    }),
  }),
  executions: rpc({
    doc: 'Executions of one pattern within a window, those that took longest first; of all durations or of some.',
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, ...Window.shape, ...ExecutionsRequest.shape }),
    output: z.object({
      executions: z.array(Execution),
      /** How many there are. */
      total: z.number().int(),
      window: UsedWindow,
      unavailable: Unavailable.nullable(),
    }),
  }),
  queryDetail: rpc({
    doc: 'One query by its id: figures, settings, profile events, threads, views, processors and what it caused. `not-found` when no log knows it.',
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({ ...ofHost, queryId: QueryId, lastHours: z.number().int().min(1).max(8760).default(336) }),
    output: z.object({ detail: QueryDetail.nullable(), unavailable: Unavailable.nullable() }),
  }),
  explain: rpc({
    doc: 'What the host would do with a statement. It is refused unless it only reads, and runs read-only within limits, as subqueries may be executed.',
    callers: readers,
    feature: 'QUERIES',
    safe: true,
    prefer: 'hostKey',
    input: z.object({
      ...ofHost,
      query: z.string().max(longestExplained),
      mode: ExplainMode.default('plan'),
      planSettings: ExplainSettings.default({}),
      /** Where unqualified table names are looked up. */
      database: z.string().min(1).max(128).optional(),
    }),
    output: Explanation,
  }),
  ...connectionsMethods,
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
  ...toolRowMethods,
  ...topologyMethods,
  ...ruleMethods,
  ...advisingMethods,
  ...insightRowMethods,
  ...reportRowMethods,
  ...structureFactMethods,
  ...definitionStatementMethods,
  ...repldbMethods,
})
