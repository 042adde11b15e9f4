import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { HostReport, hostReportMethods } from '#proto/host-report.ts'
import type { reportRowMethods } from '#proto/report-rows.ts'
import type { GoodRequest } from './auth-requests.ts'

const id = '0123456789abcdef0123456789abcdef'
const hourMs = 3_600_000
const toMs = 1_790_000_000_000

const quiet: HostReport = {
  id,
  hostKey: 'logs',
  host: 'logs',
  week: '2026-W38',
  zone: 'UTC',
  fromMs: toMs - 168 * hourMs,
  toMs,
  writtenAtMs: toMs + hourMs,
  score: 100,
  scoreBefore: null,
  verdict: '100 of 100: nothing to tell of.',
  summary: null,
  incidents: { total: 0, fired: 0, critical: 0, open: 0, flapping: [], list: [] },
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
  changes: { version: '26.3.1', versionBefore: null, settings: null, restarts: null },
  settings: { max_threads: '7' },
  coverage: { hours: 168, watchedHours: 168, rules: 80, unknownRules: 0, undelivered: [] },
  recommendations: [],
  notes: ['patterns: host logs has no table system.query_log'],
}

const known = (asked: string): void => {
  if (asked !== id) throw new ServiceError('not-found', 'no such report; it may have been removed as old')
}

/** One host that had a quiet week. */
export const fakeReports: Handlers<Service<typeof hostReportMethods>> = {
  reports: async ({ hostKey = 'logs' }) => (hostKey === 'logs' ? [{ ...quiet, delivery: 'done' }] : []),
  hostReport: async (asked) => {
    known(asked.id)
    return { report: quiet, delivery: { status: 'done', targets: [] } }
  },
  renderReport: async (asked) => {
    known(asked.id)
    return { hostKey: quiet.hostKey, text: asked.format === 'html' ? '<!doctype html><h1>logs</h1>' : '# logs\n' }
  },
  buildReport: async ({ hostKey, fromMs, toMs: untilMs }) => ({
    ...quiet,
    hostKey,
    week: null,
    fromMs,
    toMs: untilMs,
  }),
}

/** A `query` whose host has no rows for reports. */
export const fakeReportRows: Handlers<Service<typeof reportRowMethods>> = {
  reportRows: async () => ({ rows: [], unavailable: null }),
}

const base = '/api/v1/reports'

/** A good request of every route about reports. */
export const reportRequests: Readonly<Record<string, GoodRequest>> = {
  [`GET ${base}`]: { url: `${base}?hostId=1&limit=5` },
  [`GET ${base}/{id}`]: { url: `${base}/${id}` },
  [`POST ${base}`]: { url: base, body: { hostId: 1, from: 1_790_000_000, to: 1_790_086_400 } },
}
