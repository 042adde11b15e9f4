import { z } from 'zod'
import { UnavailableReason } from './unavailable-reason.ts'

/** A query id, which clients can choose. */
export const QueryId = z.string().min(1).max(256)

/**
 * A query from the query log or, if running, from the process list. Durations are in milliseconds, instants in epoch
 * milliseconds.
 */
export const QuerySummary = z.object({
  queryId: z.string(),
  /** `lost`: the query started, but the host stopped before it finished. */
  status: z.enum(['running', 'finished', 'failed', 'lost']),
  /** Number of finished executions with this id. If the client reused the id, the summary is that of the last one. */
  executions: z.number().int(),
  startedMs: z.number(),
  endedMs: z.number().nullable(),
  durationMs: z.number(),
  kind: z.string(),
  query: z.string(),
  /** `normalized_query_hash` as decimal text. */
  fingerprint: z.string(),
  user: z.string(),
  initialUser: z.string(),
  isInitial: z.boolean(),
  initialQueryId: z.string(),
  address: z.string(),
  client: z.string(),
  logComment: z.string(),
  currentDatabase: z.string(),
  databases: z.array(z.string()),
  tables: z.array(z.string()),
  columns: z.array(z.string()),
  projections: z.array(z.string()),
  functions: z.array(z.string()),
  memoryBytes: z.number(),
  cpuMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
  writtenBytes: z.number(),
  resultRows: z.number(),
  resultBytes: z.number(),
  threads: z.number().int(),
  exceptionCode: z.number().int(),
  exception: z.string(),
  stackTrace: z.string(),
})
export type QuerySummary = z.infer<typeof QuerySummary>

/**
 * Returns the schema of one section of the query details. Without the log table, the section is empty and has a reason.
 */
const createSectionSchema = <R extends z.ZodType>(row: R) =>
  z.object({
    rows: z.array(row),
    /** Whether there are more rows than returned. */
    truncated: z.boolean(),
    unavailable: UnavailableReason.nullable(),
  })

/** A thread of the query. */
export const QueryThread = z.object({
  threadId: z.string(),
  name: z.string(),
  isMaster: z.boolean(),
  durationMs: z.number(),
  cpuMs: z.number(),
  peakMemoryBytes: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
})

/** The execution of one materialized view for the inserted rows. */
export const ViewExecution = z.object({
  view: z.string(),
  target: z.string(),
  status: z.string(),
  durationMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
  writtenBytes: z.number(),
  peakMemoryBytes: z.number(),
  exceptionCode: z.number().int(),
  exception: z.string(),
})

/** Totals over all pipeline processors with the same name. */
export const ProcessorTotals = z.object({
  name: z.string(),
  processors: z.number().int(),
  elapsedMs: z.number(),
  /** Share of the time of all processors, from 0 to 1; null if they took no time. */
  share: z.number().nullable(),
  inputWaitMs: z.number(),
  outputWaitMs: z.number(),
  inputRows: z.number(),
  inputBytes: z.number(),
  outputRows: z.number(),
  outputBytes: z.number(),
})

/** A subquery: the part of a distributed query that another server runs, or a query that a function or view runs. */
export const ChildQuery = z.object({
  /** Label of the host that ran and logged the subquery. */
  host: z.string(),
  queryId: z.string(),
  failed: z.boolean(),
  endedMs: z.number(),
  durationMs: z.number(),
  kind: z.string(),
  query: z.string(),
  /** The address of the server that sent the subquery. */
  sentFrom: z.string(),
  memoryBytes: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  resultRows: z.number(),
  exceptionCode: z.number().int(),
  exception: z.string(),
})

/** A setting that decides what a query writes to the logs. */
export const LogSetting = z.object({
  name: z.string(),
  value: z.string(),
  /**
   * `query`: the query or the profile of its user changed it. `default`: the default of the host. `monitoring-user`:
   * the profile of the monitoring user changes it, so the value of the query is unknown.
   */
  source: z.enum(['query', 'default', 'monitoring-user']),
})
export type LogSetting = z.infer<typeof LogSetting>

/** The details of a query. `settings` are those that differed from their defaults. */
export const QueryDetail = z.object({
  summary: QuerySummary,
  settings: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Profile events of the query by name. */
  profileEvents: z.array(z.object({ name: z.string(), value: z.number() })),
  threads: createSectionSchema(QueryThread),
  views: createSectionSchema(ViewExecution),
  processors: createSectionSchema(ProcessorTotals),
  /** The settings of the logs of threads and processors; empty if both logs have rows, and from older releases. */
  logSettings: z.array(LogSetting).default([]),
  children: createSectionSchema(ChildQuery).extend({
    /** Labels of the queried hosts: the host of the query and others of its group. */
    queriedHosts: z.array(z.string()),
    /** Labels of the hosts that returned no data. */
    unreachableHosts: z.array(z.string()),
  }),
})
export type QueryDetail = z.infer<typeof QueryDetail>
