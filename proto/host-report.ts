import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'
import { Insight } from './insights.ts'
import { AnnouncementResult } from './announcements.ts'
import { maxReportDays } from './report-rows.ts'
import { Severity } from './rules.ts'

/** Id of a report: the hexadecimal hash of host, week and time zone, or of host and period. */
export const ReportId = z.string().regex(/^[0-9a-f]{32}$/, 'must be the id of a report')

const Whole = z.int().min(0)
const Milliseconds = z.int().min(0)
/** A number; null if the host returns no data. */
const Value = z.number().nullable()

/** One alert of the period. */
export const ReportedAlert = z.object({
  ruleId: z.string(),
  title: z.string(),
  severity: Severity,
  sinceMs: Milliseconds,
  /** Epoch milliseconds of the end; null while the alert is open. */
  endedAtMs: Milliseconds.nullable(),
  acknowledgedBy: z.string().nullable(),
})
export type ReportedAlert = z.infer<typeof ReportedAlert>

/** Finished client queries of one period. */
export const StatementTotals = z.object({
  calls: Whole,
  errors: Whole,
  totalMs: z.number(),
  p50Ms: Value,
  p95Ms: Value,
  peakMemoryBytes: Value,
})
export type StatementTotals = z.infer<typeof StatementTotals>

/** One query pattern in the period and in the previous one. */
export const ReportedPattern = z.object({
  hash: z.string(),
  text: z.string(),
  kind: z.string(),
  calls: Whole,
  callsBefore: Whole,
  p95Ms: Value,
  p95MsBefore: Value,
  readBytes: Value,
  readBytesBefore: Value,
  /** Share of the time of all patterns, from 0 to 1. */
  share: Value,
  shareBefore: Value,
})
export type ReportedPattern = z.infer<typeof ReportedPattern>

/** A disk and its forecast. `daysToFull` is null if unknown; `forecast` then contains the reason. */
export const ReportedDisk = z.object({
  disk: z.string(),
  usedBytes: z.number(),
  totalBytes: z.number(),
  /** Growth since the start of the period; null if the history is shorter. */
  grewBytes: Value,
  daysToFull: z.object({ soonest: z.number(), latest: z.number() }).nullable(),
  forecast: z.string(),
  /** How good earlier forecasts of the disk were; empty if unknown. */
  forecastRecord: z.string().default(''),
})
export type ReportedDisk = z.infer<typeof ReportedDisk>

/** The state of a host over a period. Figures without data are empty or null, and `notes` give the reasons. */
export const HostReport = z.object({
  id: ReportId,
  hostKey: HostKey,
  host: z.string(),
  /** ISO week of the period, such as `2026-W47`; null for a custom period. */
  week: z.string().nullable(),
  zone: z.string(),
  fromMs: Milliseconds,
  toMs: Milliseconds,
  writtenAtMs: Milliseconds,
  /** The score of the period, and of the previous week. 100 means that there are no findings. */
  score: z.int().min(0).max(100),
  scoreBefore: z.int().nullable(),
  headline: z.string(),
  /**
   * Written by a language model. Each of its figures is in the report. Null without a model, or if the text was
   * rejected.
   */
  summary: z.string().nullable().default(null),
  incidents: z
    .object({
      /** Number of alerts in the period, how many of them started in it, and how many were critical. */
      total: Whole,
      fired: Whole,
      critical: Whole,
      open: Whole,
      /** Titles of alerts that fired three times or more. */
      flapping: z.array(z.string()),
      /** The alerts, longest first. */
      list: z.array(ReportedAlert),
    })
    .nullable(),
  statements: z.object({ now: StatementTotals, before: StatementTotals.nullable() }).nullable(),
  /** Time series over the period, in steps of equal length. */
  course: z.array(z.object({ atMs: Milliseconds, calls: Whole, errors: Whole, p95Ms: Value, peakMemoryBytes: Value })),
  regressions: z.array(ReportedPattern),
  improvements: z.array(ReportedPattern),
  newPatterns: z.array(ReportedPattern),
  errorCodes: z.array(z.object({ code: z.int(), name: z.string(), count: Whole, countBefore: Whole })),
  disks: z.array(ReportedDisk),
  /** Tables, largest first, with their sizes when the report was written. */
  tables: z.array(
    z.object({
      table: z.string(),
      rows: z.number(),
      bytes: Value,
      /** Bytes inserted in the period and in the previous one; null without a part log. */
      writtenBytes: Value,
      writtenBytesBefore: Value,
    }),
  ),
  /** Peak values of parts, merges, mutations, replication and memory. */
  worst: z.array(
    z.object({
      what: z.string(),
      value: z.number(),
      unit: z.enum(['count', 'seconds', 'bytes', 'load']),
      atMs: Milliseconds.nullable(),
    }),
  ),
  safeguards: z.object({
    backupAtMs: Milliseconds.nullable(),
    failedBackups: Whole.nullable(),
    certificateExpiresAtMs: Milliseconds.nullable(),
  }),
  changes: z.object({
    version: z.string().nullable(),
    /** The version in the previous report if it differs; null otherwise. */
    versionBefore: z.string().nullable(),
    /** Names of settings changed since the previous report; null without one. */
    settings: z.array(z.string()).nullable(),
    restarts: Whole.nullable(),
  }),
  /** Hashes of settings, so that the next report can show what changed. */
  settings: z.record(z.string(), z.string()),
  /** How completely the host was monitored during the period. */
  coverage: z.object({
    hours: Whole,
    watchedHours: Whole.nullable(),
    /** Number of evaluated rules, and how many of them had no data. */
    rules: Whole.nullable(),
    unknownRules: Whole.nullable(),
    /** Number of failed notifications in the period, by channel. */
    undelivered: z.array(z.object({ channel: z.string(), count: Whole })).nullable(),
  }),
  recommendations: z.array(
    Insight.pick({
      kind: true,
      subject: true,
      severity: true,
      title: true,
      detail: true,
      evidenceSql: true,
      link: true,
    }),
  ),
  notes: z.array(z.string()),
})
export type HostReport = z.infer<typeof HostReport>

/** The delivery status of a report; a newer release may add values. Reports built on request are not sent. */
export const ReportDeliveryStatus = z.object({
  /** `none`, `due`, `sending`, `done` or `failed`. */
  status: z.string().max(16),
  targets: z.array(AnnouncementResult),
})
export type ReportDeliveryStatus = z.infer<typeof ReportDeliveryStatus>

/** A report in a list. */
export const ListedReport = HostReport.pick({
  id: true,
  hostKey: true,
  host: true,
  week: true,
  zone: true,
  fromMs: true,
  toMs: true,
  writtenAtMs: true,
  score: true,
  headline: true,
}).extend({ delivery: ReportDeliveryStatus.shape.status })
export type ListedReport = z.infer<typeof ListedReport>

/** Output formats of a report. */
export const reportFormats = ['html', 'markdown'] as const

const common = { callers: ['gateway'], feature: 'INSIGHTS' } as const

/** Methods of `report` for reports on hosts. */
export const hostReportMethods = {
  reports: rpc({
    ...common,
    doc: 'Lists stored reports of one host or of all, newest first.',
    safe: true,
    input: z.object({ hostKey: HostKey.optional(), limit: z.int().min(1).max(200).default(50) }),
    output: z.array(ListedReport),
  }),
  hostReport: rpc({
    ...common,
    doc: 'Returns a report and its delivery.',
    safe: true,
    input: z.object({ id: ReportId }),
    output: z.object({ report: HostReport, delivery: ReportDeliveryStatus }),
  }),
  renderReport: rpc({
    ...common,
    doc: 'Renders a report as a printable page without scripts, or as Markdown.',
    safe: true,
    input: z.object({ id: ReportId, format: z.enum(reportFormats) }),
    output: z.object({ hostKey: HostKey, text: z.string() }),
  }),
  buildReport: rpc({
    ...common,
    doc: 'Writes a report about one host and a period that has started, and replaces an earlier one of the same period; sends no notification.',
    prefer: 'hostKey',
    input: z
      .object({ hostKey: HostKey, fromMs: Milliseconds, toMs: Milliseconds, zone: z.string().max(64).optional() })
      .refine(({ fromMs, toMs }) => fromMs < toMs && toMs - fromMs <= maxReportDays * 86_400_000, {
        error: `must be a period of ${maxReportDays} days at most`,
        path: ['toMs'],
      }),
    output: HostReport,
  }),
}
