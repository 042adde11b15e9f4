import { z } from 'zod'
import { Unavailable } from './unavailable.ts'

/** A query id as a client may have chosen it. */
export const QueryId = z.string().min(1).max(256)

/** What the query log, or while it runs the process list, tells of one query. Times in milliseconds, instants as epoch milliseconds. */
export const QuerySummary = z.object({
  queryId: z.string(),
  /** `lost` has begun, has not ended and does not run: its host was ended meanwhile. */
  status: z.enum(['running', 'finished', 'failed', 'lost']),
  /** How often an execution under this id has ended; more than one when the client used it again. This is the last. */
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

/** One part of a query's detail. A log that the host does not keep leaves its part empty and says so. */
const part = <R extends z.ZodType>(row: R) =>
  z.object({
    rows: z.array(row),
    /** There were more rows than are answered. */
    truncated: z.boolean(),
    unavailable: Unavailable.nullable(),
  })

/** What one thread did. */
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

/** What one materialized view did with the rows that were inserted. */
export const QueryView = z.object({
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

/** What the processors of one name did together. */
export const QueryProcessor = z.object({
  name: z.string(),
  processors: z.number().int(),
  elapsedMs: z.number(),
  /** Of the time of all processors, from 0 to 1. */
  share: z.number().nullable(),
  inputWaitMs: z.number(),
  outputWaitMs: z.number(),
  inputRows: z.number(),
  inputBytes: z.number(),
  outputRows: z.number(),
  outputBytes: z.number(),
})

/** A query that this one caused: a part of a distributed query, or what a function or view asked. */
export const QueryChild = z.object({
  /** Label of the host that ran and logged it. */
  host: z.string(),
  queryId: z.string(),
  failed: z.boolean(),
  endedMs: z.number(),
  durationMs: z.number(),
  kind: z.string(),
  query: z.string(),
  /** The address that sent it. */
  sentFrom: z.string(),
  memoryBytes: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  resultRows: z.number(),
  exceptionCode: z.number().int(),
  exception: z.string(),
})

/** One query from all sides; `settings` are those that differed from their defaults. */
export const QueryDetail = z.object({
  summary: QuerySummary,
  settings: z.array(z.object({ name: z.string(), value: z.string() })),
  /** Counters of what the query did, by name. */
  profileEvents: z.array(z.object({ name: z.string(), value: z.number() })),
  threads: part(QueryThread),
  views: part(QueryView),
  processors: part(QueryProcessor),
  children: part(QueryChild).extend({
    /** Labels of the hosts that were asked: the query's own and others of its group. */
    askedHosts: z.array(z.string()),
    /** Those of them that could not tell. */
    silentHosts: z.array(z.string()),
  }),
})
export type QueryDetail = z.infer<typeof QueryDetail>
