import { z } from 'zod'
import { rpc } from './contract.ts'
import { hostInput } from './host.ts'
import { CountColumn, NullableNumberColumn } from './insight-rows.ts'
import { IncompleteReason, UnavailableReason } from './unavailable-reason.ts'

/** Number of time steps in the time series of a report. */
export const reportStepCount = 28
/** Maximum length of a report period in days. */
export const maxReportDays = 92

/**
 * Row sets of reports. `query` runs one fixed statement per set for the period of the report and, where noted, for the
 * preceding period of the same length. Current values are read at request time.
 */
export const reportRowSets = {
  /** Finished client queries. `isBefore` is 1 for the previous period. */
  'statement-totals': z.object({
    isBefore: CountColumn,
    calls: CountColumn,
    errors: CountColumn,
    totalMs: CountColumn,
    p50Ms: NullableNumberColumn,
    p95Ms: NullableNumberColumn,
    peakMemoryBytes: NullableNumberColumn,
  }),
  /** Totals of finished client queries by time step; steps without queries are omitted. */
  'statement-steps': z.object({
    step: CountColumn,
    calls: CountColumn,
    errors: CountColumn,
    p95Ms: NullableNumberColumn,
    peakMemoryBytes: NullableNumberColumn,
  }),
  /** The most expensive query patterns of both periods. Bytes are averages per execution. */
  patterns: z.object({
    hash: z.string(),
    /** The query with placeholders for values, truncated. */
    text: z.string(),
    kind: z.string(),
    calls: CountColumn,
    callsBefore: CountColumn,
    totalMs: CountColumn,
    totalMsBefore: CountColumn,
    p95Ms: NullableNumberColumn,
    p95MsBefore: NullableNumberColumn,
    readBytes: NullableNumberColumn,
    readBytesBefore: NullableNumberColumn,
    /** Total time of all patterns. */
    allMs: CountColumn,
    allMsBefore: CountColumn,
  }),
  'error-codes': z.object({ code: CountColumn, name: z.string(), count: CountColumn, countBefore: CountColumn }),
  /** Used space by disk and hour in the two weeks up to the end of the period; hour 0 is the last. */
  'disk-hours': z.object({
    disk: z.string(),
    hoursAgo: CountColumn,
    usedBytes: NullableNumberColumn,
    totalBytes: NullableNumberColumn,
  }),
  /** Bytes inserted into existing tables. */
  written: z.object({
    database: z.string(),
    table: z.string(),
    rows: CountColumn,
    bytes: CountColumn,
    rowsBefore: CountColumn,
    bytesBefore: CountColumn,
  }),
  /** Peak values of some metrics, and when they occurred. */
  peaks: z.object({ metric: z.string(), value: NullableNumberColumn, atMs: CountColumn }),
  merges: z.object({ merges: CountColumn, failed: CountColumn, longestMs: NullableNumberColumn }),
  /** Number of server starts. */
  restarts: z.object({ restarts: CountColumn }),
  /**
   * The last successful backup before the end of the period (null if there is none), and the number of failed backups.
   */
  backups: z.object({ succeededAtMs: NullableNumberColumn, failed: CountColumn }),
  /** Number of certificates and the earliest expiry. */
  certificates: z.object({ certificates: CountColumn, expiresAtMs: NullableNumberColumn }),
  /** Number of hours of the period in which the product queried the host. */
  watched: z.object({ hours: CountColumn }),
} as const
/** Name of a row set of reports. */
export type ReportRowSet = keyof typeof reportRowSets
/** A row of the set with the name `S`. */
export type ReportRow<S extends ReportRowSet> = z.output<(typeof reportRowSets)[S]>
// The keys of an object literal are exactly the keys of its type.
const names = Object.keys(reportRowSets) as [ReportRowSet, ...ReportRowSet[]]

/** Methods of `query` that provide the data of reports. */
export const reportRowMethods = {
  reportRows: rpc({
    doc: 'Returns the rows of one fixed statement about the period of a report.',
    callers: ['report'],
    feature: 'INSIGHTS',
    safe: true,
    prefer: 'hostKey',
    input: z
      .object({ ...hostInput, set: z.enum(names), fromMs: z.int().min(0), toMs: z.int().min(0) })
      .refine(({ fromMs, toMs }) => fromMs < toMs && toMs - fromMs <= maxReportDays * 86_400_000, {
        error: `must be a period of ${maxReportDays} days at most`,
        path: ['toMs'],
      }),
    output: z.object({
      rows: z.array(z.record(z.string(), z.unknown())),
      unavailable: UnavailableReason.nullable(),
      incomplete: IncompleteReason.nullable().default(null),
    }),
  }),
}
