import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'
import { Count, Figure } from './insight-rows.ts'
import { Incomplete, Unavailable } from './unavailable.ts'

/** Number of steps into which the time series of a report divide the period. */
export const reportSteps = 28
/** Maximum length of a report period in days. */
export const maxReportDays = 92

/**
 * Row sets of reports. `query` runs one fixed statement per set for the period of the report and, where noted, for the
 * preceding period of the same length. Current values are read at request time.
 */
export const reportRowSets = {
  /** Finished client queries. `isBefore` is 1 for the previous period. */
  'statement-totals': z.object({
    isBefore: Count,
    calls: Count,
    errors: Count,
    totalMs: Count,
    p50Ms: Figure,
    p95Ms: Figure,
    peakMemoryBytes: Figure,
  }),
  /** Totals of finished client queries by step; steps without queries are omitted. */
  'statement-steps': z.object({ step: Count, calls: Count, errors: Count, p95Ms: Figure, peakMemoryBytes: Figure }),
  /** The most expensive query patterns of both periods. Bytes are averages per execution. */
  patterns: z.object({
    hash: z.string(),
    /** The query with placeholders for values, truncated. */
    text: z.string(),
    kind: z.string(),
    calls: Count,
    callsBefore: Count,
    totalMs: Count,
    totalMsBefore: Count,
    p95Ms: Figure,
    p95MsBefore: Figure,
    readBytes: Figure,
    readBytesBefore: Figure,
    /** Total time of all patterns. */
    allMs: Count,
    allMsBefore: Count,
  }),
  'error-codes': z.object({ code: Count, name: z.string(), count: Count, countBefore: Count }),
  /** Used space by disk and hour in the two weeks up to the end of the period; hour 0 is the last. */
  'disk-hours': z.object({ disk: z.string(), hoursAgo: Count, usedBytes: Figure, totalBytes: Figure }),
  /** Bytes inserted into existing tables. */
  written: z.object({
    database: z.string(),
    table: z.string(),
    rows: Count,
    bytes: Count,
    rowsBefore: Count,
    bytesBefore: Count,
  }),
  /** Peak values of some metrics, and when they occurred. */
  peaks: z.object({ metric: z.string(), value: Figure, atMs: Count }),
  merges: z.object({ merges: Count, failed: Count, longestMs: Figure }),
  /** Number of server starts. */
  restarts: z.object({ restarts: Count }),
  /** The last successful backup up to the end of the period, null without any, and the failed ones of the period. */
  backups: z.object({ succeededAtMs: Figure, failed: Count }),
  /** Number of certificates and the earliest expiry. */
  certificates: z.object({ certificates: Count, expiresAtMs: Figure }),
  /** Hours of the period in which the product queried the host. */
  watched: z.object({ hours: Count }),
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
      .object({ ...ofHost, set: z.enum(names), fromMs: z.int().min(0), toMs: z.int().min(0) })
      .refine(({ fromMs, toMs }) => fromMs < toMs && toMs - fromMs <= maxReportDays * 86_400_000, {
        error: `must be a period of ${maxReportDays} days at most`,
        path: ['toMs'],
      }),
    output: z.object({
      rows: z.array(z.record(z.string(), z.unknown())),
      unavailable: Unavailable.nullable(),
      incomplete: Incomplete.nullable().default(null),
    }),
  }),
}
