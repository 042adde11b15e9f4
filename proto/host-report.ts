import { z } from 'zod'
import { rpc } from './contract.ts'
import { HostKey } from './host.ts'
import { Insight } from './insights.ts'
import { HandedOver } from './notify.ts'
import { longestReportDays } from './report-rows.ts'
import { Severity } from './rules.ts'

/** A hash in hex: of host, week and zone, or of host and period. */
export const ReportId = z.string().regex(/^[0-9a-f]{32}$/, 'must be the id of a report')

const Whole = z.int().min(0)
const Milliseconds = z.int().min(0)
/** Null where the host cannot tell. */
const Known = z.number().nullable()

/** One alert of the period. */
export const ReportedIncident = z.object({
  ruleId: z.string(),
  title: z.string(),
  severity: Severity,
  sinceMs: Milliseconds,
  /** Null while it goes on. */
  endedAtMs: Milliseconds.nullable(),
  acknowledgedBy: z.string().nullable(),
})
export type ReportedIncident = z.infer<typeof ReportedIncident>

/** Ended statements of clients within one period. */
export const StatementTotals = z.object({
  calls: Whole,
  errors: Whole,
  totalMs: z.number(),
  p50Ms: Known,
  p95Ms: Known,
  peakMemoryBytes: Known,
})
export type StatementTotals = z.infer<typeof StatementTotals>

/** One pattern of statements in the period and in the one before it. */
export const ReportedPattern = z.object({
  hash: z.string(),
  text: z.string(),
  kind: z.string(),
  calls: Whole,
  callsBefore: Whole,
  p95Ms: Known,
  p95MsBefore: Known,
  readBytes: Known,
  readBytesBefore: Known,
  /** Of the time of all patterns, from 0 to 1. */
  share: Known,
  shareBefore: Known,
})
export type ReportedPattern = z.infer<typeof ReportedPattern>

/** One disk, and when it is full if it goes on so; `daysToFull` is null where that cannot be told, as `outlook` says. */
export const ReportedDisk = z.object({
  disk: z.string(),
  usedBytes: z.number(),
  totalBytes: z.number(),
  /** Since the period began; null where its history is shorter. */
  grewBytes: Known,
  daysToFull: z.object({ soonest: z.number(), latest: z.number() }).nullable(),
  outlook: z.string(),
})
export type ReportedDisk = z.infer<typeof ReportedDisk>

/** How a host fared in a period. What could not be told is empty or null, and `notes` say why. */
export const HostReport = z.object({
  id: ReportId,
  hostKey: HostKey,
  host: z.string(),
  /** Such as `2026-W47`; null of a period that somebody chose. */
  week: z.string().nullable(),
  zone: z.string(),
  fromMs: Milliseconds,
  toMs: Milliseconds,
  writtenAtMs: Milliseconds,
  /** 100 is a period without anything to tell; and the score of the report of the week before. */
  score: z.int().min(0).max(100),
  scoreBefore: z.int().nullable(),
  verdict: z.string(),
  /** By a language model, each figure of which stands in the report; null where none is configured, or what it said was wrong. */
  summary: z.string().nullable().default(null),
  incidents: z
    .object({
      /** All that went on within the period, those of them that began in it, and those that were critical. */
      total: Whole,
      fired: Whole,
      critical: Whole,
      open: Whole,
      /** Titles of what fired three times or more. */
      flapping: z.array(z.string()),
      /** The longest first. */
      list: z.array(ReportedIncident),
    })
    .nullable(),
  statements: z.object({ now: StatementTotals, before: StatementTotals.nullable() }).nullable(),
  /** Steps of equal length over the period. */
  course: z.array(z.object({ atMs: Milliseconds, calls: Whole, errors: Whole, p95Ms: Known, peakMemoryBytes: Known })),
  regressions: z.array(ReportedPattern),
  improvements: z.array(ReportedPattern),
  newPatterns: z.array(ReportedPattern),
  errorCodes: z.array(z.object({ code: z.int(), name: z.string(), count: Whole, countBefore: Whole })),
  disks: z.array(ReportedDisk),
  /** The largest first; sizes are of when it was written. */
  tables: z.array(
    z.object({
      table: z.string(),
      rows: z.number(),
      bytes: Known,
      /** Inserted within the period and the one before; null where no log tells. */
      writtenBytes: Known,
      writtenBytesBefore: Known,
    }),
  ),
  /** The worst values of parts, merges, mutations, replication and memory. */
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
    /** Of the report of the week before, where it is another. */
    versionBefore: z.string().nullable(),
    /** Names of settings that changed since then; null where there is no such report. */
    settings: z.array(z.string()).nullable(),
    restarts: Whole.nullable(),
  }),
  /** Hashes of what is set, so that the next report can tell what changed. */
  settings: z.record(z.string(), z.string()),
  /** How well the host was watched. */
  coverage: z.object({
    hours: Whole,
    watchedHours: Whole.nullable(),
    /** Rules that were judged, and those of them that could not be told. */
    rules: Whole.nullable(),
    unknownRules: Whole.nullable(),
    /** Notices of the period that were given up, by channel. */
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

/** How a report was handed over to be sent; a newer release may know more. Nobody is told of one that somebody built. */
export const ReportDelivery = z.object({
  /** `none`, `due`, `sending`, `done` or `failed`. */
  status: z.string().max(16),
  targets: z.array(HandedOver),
})
export type ReportDelivery = z.infer<typeof ReportDelivery>

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
  verdict: true,
}).extend({ delivery: ReportDelivery.shape.status })
export type ListedReport = z.infer<typeof ListedReport>

/** Forms of a report for people. */
export const reportFormats = ['html', 'markdown'] as const

const common = { callers: ['gateway'], feature: 'INSIGHTS' } as const

/** Methods of `report` about how hosts fared. */
export const hostReportMethods = {
  reports: rpc({
    ...common,
    doc: 'Reports that are kept, the newest first, of one host or of all.',
    safe: true,
    input: z.object({ hostKey: HostKey.optional(), limit: z.int().min(1).max(200).default(50) }),
    output: z.array(ListedReport),
  }),
  hostReport: rpc({
    ...common,
    doc: 'One report, and what became of its delivery.',
    safe: true,
    input: z.object({ id: ReportId }),
    output: z.object({ report: HostReport, delivery: ReportDelivery }),
  }),
  renderReport: rpc({
    ...common,
    doc: 'One report as people read it: a page that can be printed and runs nothing, or Markdown.',
    safe: true,
    input: z.object({ id: ReportId, format: z.enum(reportFormats) }),
    output: z.object({ hostKey: HostKey, text: z.string() }),
  }),
  buildReport: rpc({
    ...common,
    doc: 'Writes a report about one host and a period that has begun, and keeps it in place of an earlier one of the same period; nobody is told.',
    prefer: 'hostKey',
    input: z
      .object({ hostKey: HostKey, fromMs: Milliseconds, toMs: Milliseconds, zone: z.string().max(64).optional() })
      .refine(({ fromMs, toMs }) => fromMs < toMs && toMs - fromMs <= longestReportDays * 86_400_000, {
        error: `must be a period of ${longestReportDays} days at most`,
        path: ['toMs'],
      }),
    output: HostReport,
  }),
}
