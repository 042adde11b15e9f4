import { z } from 'zod'

/** `normalized_query_hash` as decimal text. It is equal for queries that differ only in their values. */
export const QueryPatternHash = z
  .string()
  .regex(/^(0|[1-9]\d{0,19})$/, { error: 'must be the decimal normalized_query_hash of a pattern', abort: true })
  .refine((hash) => BigInt(hash) < 2n ** 64n, 'must be below 2 to the power of 64')

/** Sort orders of patterns, all descending. */
export const queryPatternOrders = [
  'total_time',
  'calls',
  'average',
  'p50',
  'p95',
  'p99',
  'longest',
  'errors',
  'cpu',
  'read_rows',
  'read_bytes',
  'written_rows',
  'result_rows',
  'memory',
  'first_seen',
  'last_seen',
] as const

/**
 * Filter and order of patterns. `search` matches the text of the pattern, `user` counts only queries of this user, and
 * `own` includes the queries of the product itself.
 */
export const QueryPatternsRequest = z.object({
  order: z.enum(queryPatternOrders).default('total_time'),
  search: z.string().max(256).optional(),
  user: z.string().max(256).optional(),
  own: z.boolean().default(false),
  limit: z.number().int().min(1).max(1_000).default(100),
  offset: z.number().int().min(0).max(1_000_000).default(0),
})
export type QueryPatternsRequest = z.infer<typeof QueryPatternsRequest>

/**
 * All executions of one pattern within a window, including failed ones. Durations are in milliseconds, instants in
 * epoch milliseconds.
 */
export const QueryPatternSummary = z.object({
  hash: QueryPatternHash,
  /** The query with placeholders for its values. */
  query: z.string(),
  kind: z.string(),
  calls: z.number().int(),
  totalMs: z.number(),
  /** Share of the total time of all patterns in the window, or of all queries of the requested user; from 0 to 1. */
  share: z.number().nullable(),
  averageMs: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  longestMs: z.number(),
  errors: z.number().int(),
  cpuMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
  writtenBytes: z.number(),
  resultRows: z.number(),
  averageMemoryBytes: z.number(),
  peakMemoryBytes: z.number(),
  /** At most 20 users, in alphabetical order. */
  users: z.array(z.string()),
  userCount: z.number().int(),
  /** At most 20 tables, as `database.table`. */
  tables: z.array(z.string()),
  firstSeenMs: z.number(),
  lastSeenMs: z.number(),
})
export type QueryPatternSummary = z.infer<typeof QueryPatternSummary>

/** One execution of a pattern. */
export const QueryExecution = z.object({
  queryId: z.string(),
  /** The query as sent, cut to 2,000 characters. */
  query: z.string(),
  failed: z.boolean(),
  endedMs: z.number(),
  durationMs: z.number(),
  user: z.string(),
  client: z.string(),
  memoryBytes: z.number(),
  cpuMs: z.number(),
  readRows: z.number(),
  readBytes: z.number(),
  writtenRows: z.number(),
  resultRows: z.number(),
  resultBytes: z.number(),
  exceptionCode: z.number().int(),
  /** The error message, cut to 500 characters. */
  exception: z.string(),
})
export type QueryExecution = z.infer<typeof QueryExecution>

/** One bucket of the history of a pattern. Percentiles are null without executions. */
export const TrendPoint = z.object({
  timeMs: z.number(),
  calls: z.number().int(),
  errors: z.number().int(),
  totalMs: z.number(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  readRows: z.number(),
  readBytes: z.number(),
  peakMemoryBytes: z.number(),
})
export type TrendPoint = z.infer<typeof TrendPoint>

/** Number of executions in one time bucket whose duration is at least `fromMs` and less than `toMs`. */
export const LatencyCell = z.object({
  timeMs: z.number(),
  fromMs: z.number(),
  toMs: z.number(),
  calls: z.number().int(),
  errors: z.number().int(),
})
export type LatencyCell = z.infer<typeof LatencyCell>

/** How often a pattern failed with one error. */
export const QueryPatternError = z.object({
  code: z.number().int(),
  name: z.string(),
  count: z.number().int(),
  lastSeenMs: z.number(),
  /** The last message, cut to 500 characters. */
  message: z.string(),
})

/** A pattern with its history, executions and failures. */
export const QueryPatternDetail = z.object({
  summary: QueryPatternSummary,
  trend: z.array(TrendPoint),
  /** Latency heatmap by trend bucket, with two cells per doubling of the duration. Empty cells are omitted. */
  latency: z.array(LatencyCell).optional(),
  /** The latest executions, newest first. */
  executions: z.array(QueryExecution),
  slowest: z.array(QueryExecution),
  largestResult: z.array(QueryExecution),
  errored: z.array(QueryExecution),
  errors: z.array(QueryPatternError),
})
export type QueryPatternDetail = z.infer<typeof QueryPatternDetail>

/** Filter of executions by duration from `minMs` up to, but not including, `maxMs`. */
export const ExecutionsRequest = z.object({
  hash: QueryPatternHash,
  minMs: z.number().int().min(0).optional(),
  maxMs: z.number().int().min(1).optional(),
  limit: z.number().int().min(1).max(1_000).default(100),
})
export type ExecutionsRequest = z.infer<typeof ExecutionsRequest>
