import { z } from 'zod'
import { figure, flag } from './records.ts'

/** One row of the statements about patterns. */
export const FingerprintRow = z.object({
  hash: z.string(),
  query: z.string(),
  kind: z.string(),
  calls: figure,
  totalMs: figure,
  share: z.number().nullable(),
  averageMs: z.number(),
  p50Ms: z.number(),
  p95Ms: z.number(),
  p99Ms: z.number(),
  longestMs: figure,
  errors: figure,
  cpuMs: z.number(),
  readRows: figure,
  readBytes: figure,
  writtenRows: figure,
  writtenBytes: figure,
  resultRows: figure,
  averageMemoryBytes: z.number(),
  peakMemoryBytes: figure,
  users: z.array(z.string()),
  userCount: figure,
  tables: z.array(z.string()),
  firstSeenMs: figure,
  lastSeenMs: figure,
})

const execution = {
  queryId: z.string(),
  query: z.string(),
  failed: flag,
  endedMs: figure,
  durationMs: figure,
  user: z.string(),
  client: z.string(),
  memoryBytes: figure,
  cpuMs: z.number(),
  readRows: figure,
  readBytes: figure,
  writtenRows: figure,
  resultRows: figure,
  resultBytes: figure,
  exceptionCode: z.number(),
  exception: z.string(),
}

/** One row of the statement about the lists of executions. */
export const ListedExecutionRow = z.object({ list: z.string(), place: figure, ...execution })

/** One row of the statement about executions of some duration. */
export const ExecutionRow = z.object({ total: figure, ...execution })

/** One row of the statement about how long executions took. */
export const LatencyRow = z.object({ timeMs: figure, cell: z.number(), calls: figure, errors: figure })

/** One row of the statement about a pattern's course. */
export const TrendRow = z.object({
  timeMs: figure,
  calls: figure,
  errors: figure,
  totalMs: figure,
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  p99Ms: z.number().nullable(),
  readRows: figure,
  readBytes: figure,
  peakMemoryBytes: figure,
})

/** One row of the statement about a pattern's failures. */
export const ErrorRow = z.object({
  code: z.number(),
  name: z.string(),
  count: figure,
  lastSeenMs: figure,
  message: z.string(),
})
