import { z } from 'zod'
import { rpc } from './contract.ts'
import { ofHost } from './host.ts'
import { Count, Figure } from './insight-rows.ts'
import { Unavailable } from './unavailable.ts'

/** The course of a figure over a period is told in so many equal steps. */
export const reportSteps = 28
/** Longest period that one report is about. */
export const longestReportDays = 92

/**
 * What reports are made of: every set is one fixed statement of `query` about a period, and about the period of the same length
 * before it where that is said. What is of the present moment is told as it is when it is asked.
 */
export const reportRowSets = {
  /** Ended statements of clients. `isBefore` is 1 of the period before. */
  'statement-totals': z.object({
    isBefore: Count,
    calls: Count,
    errors: Count,
    totalMs: Count,
    p50Ms: Figure,
    p95Ms: Figure,
    peakMemoryBytes: Figure,
  }),
  /** The same step by step; steps in which nothing ended are not told. */
  'statement-steps': z.object({ step: Count, calls: Count, errors: Count, p95Ms: Figure, peakMemoryBytes: Figure }),
  /** The costliest patterns of both periods together. Bytes are of one execution on average. */
  patterns: z.object({
    hash: z.string(),
    /** With placeholders for its values, cut. */
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
    /** Time of all patterns. */
    allMs: Count,
    allMsBefore: Count,
  }),
  'error-codes': z.object({ code: Count, name: z.string(), count: Count, countBefore: Count }),
  /** Space used on each disk in the two weeks that end with the period, hour by hour; hour 0 is the last. */
  'disk-hours': z.object({ disk: z.string(), hoursAgo: Count, usedBytes: Figure, totalBytes: Figure }),
  /** What was inserted into tables that are there. */
  written: z.object({
    database: z.string(),
    table: z.string(),
    rows: Count,
    bytes: Count,
    rowsBefore: Count,
    bytesBefore: Count,
  }),
  /** The highest value of some figures of the host, and when it was reached. */
  peaks: z.object({ metric: z.string(), value: Figure, atMs: Count }),
  merges: z.object({ merges: Count, failed: Count, longestMs: Figure }),
  /** Times that the host was started. */
  restarts: z.object({ restarts: Count }),
  /** The last backup that succeeded by the end of the period, null if none did; and those of the period that failed. */
  backups: z.object({ succeededAtMs: Figure, failed: Count }),
  /** Of the certificates that the host was given, the one that expires first. */
  certificates: z.object({ certificates: Count, expiresAtMs: Figure }),
  /** Hours of the period in which the product asked the host anything. */
  watched: z.object({ hours: Count }),
} as const
/** Name of a set. */
export type ReportRowSet = keyof typeof reportRowSets
/** One row of a set. */
export type ReportRow<S extends ReportRowSet> = z.output<(typeof reportRowSets)[S]>
// Keys of an object literal are exactly the keys of its type.
const names = Object.keys(reportRowSets) as [ReportRowSet, ...ReportRowSet[]]

/** Methods of `query` that reports are made of. */
export const reportRowMethods = {
  reportRows: rpc({
    doc: 'The rows of one fixed statement about a period that a report tells of.',
    callers: ['report'],
    feature: 'INSIGHTS',
    safe: true,
    prefer: 'hostKey',
    input: z
      .object({ ...ofHost, set: z.enum(names), fromMs: z.int().min(0), toMs: z.int().min(0) })
      .refine(({ fromMs, toMs }) => fromMs < toMs && toMs - fromMs <= longestReportDays * 86_400_000, {
        error: `must be a period of ${longestReportDays} days at most`,
        path: ['toMs'],
      }),
    output: z.object({ rows: z.array(z.record(z.string(), z.unknown())), unavailable: Unavailable.nullable() }),
  }),
}
