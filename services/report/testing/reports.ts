import type { AlertHistoryEntry } from '#proto/alert-history.ts'
import type { HostReport } from '#proto/host-report.ts'
import type { ReportData } from '../reports/report-data.ts'

const hourMs = 3_600_000
/** The start of the test period, a Monday. */
export const weekStartMs = Date.UTC(2026, 10, 9)
const period = { fromMs: weekStartMs, toMs: weekStartMs + 168 * hourMs }

/** Returns the report data of a host without any data. */
export const createReportData = (more: Partial<ReportData> = {}): ReportData => ({
  period,
  writtenAtMs: period.toMs + hourMs,
  rows: {},
  tables: undefined,
  mutations: undefined,
  settings: undefined,
  version: undefined,
  history: undefined,
  acknowledged: [],
  checks: undefined,
  undelivered: undefined,
  insights: [],
  recordOfDisk: () => '',
  before: undefined,
  notes: [],
  ...more,
})

/** Returns an alert history entry with a time `hour` hours after the start of the test period. */
export const createHistoryEntry = (
  kind: string,
  hour: number,
  more: Partial<AlertHistoryEntry> = {},
): AlertHistoryEntry => ({
  id: `${kind} ${hour} ${more.episode ?? 'e'}`,
  kind,
  hostKey: 'box',
  ruleId: 'disk-usage',
  episode: 'e',
  severity: 'warning',
  title: 'Disk usage',
  value: 1,
  threshold: 1,
  sinceMs: weekStartMs + 2 * hourMs,
  atMs: weekStartMs + hour * hourMs,
  reason: '',
  ...more,
})

/** The subject of a report. */
export const testReportSubject = { hostKey: 'box', host: 'box', week: '2026-W46', zone: 'UTC' }

/** Returns a report whose id is this letter, repeated 32 times. */
export const createReport = (letter: string, more: Partial<HostReport> = {}): HostReport => ({
  id: letter.repeat(32),
  ...testReportSubject,
  ...period,
  writtenAtMs: period.toMs,
  score: 90,
  scoreBefore: null,
  headline: '90 of 100.',
  summary: null,
  incidents: null,
  statements: null,
  course: [],
  regressions: [],
  improvements: [],
  newPatterns: [],
  errorCodes: [],
  disks: [],
  tables: [],
  worst: [],
  safeguards: { backupAtMs: null, failedBackups: null, certificateExpiresAtMs: null },
  changes: { version: null, versionBefore: null, settings: null, restarts: null },
  settings: {},
  coverage: { hours: 168, watchedHours: null, rules: null, unknownRules: null, undelivered: null },
  recommendations: [],
  notes: [`it's \\ "so"`],
  ...more,
})
