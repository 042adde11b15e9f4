import type { ServiceHandlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { forecastMethods } from '#proto/forecasts.ts'
import type { HostReport, hostReportMethods } from '#proto/host-report.ts'
import type { insightRowMethods } from '#proto/insight-rows.ts'
import type { Insight, insightMethods, InsightScan } from '#proto/insights.ts'
import type { reportRowMethods } from '#proto/report-rows.ts'
import type { ValidRequest } from './valid-requests.ts'

const insightId = '0123456789abcdef'
/** An insight of the host `logs`. */
export const sampleInsight: Insight = {
  id: insightId,
  hostKey: 'logs',
  kind: 'disk-full',
  subject: 'default',
  day: '2026-06-01',
  severity: 'warning',
  title: 'Disk default is full in 5 days',
  detail: '10 GiB of 100 GiB are free.',
  signal: 'days until the disk is full',
  window: 'the last 14 and 2 days',
  baseline: 30,
  value: 5,
  unit: 'days',
  score: 12,
  confidence: 'high',
  evidenceSql: 'SELECT 1',
  link: '/tables/disks',
  foundAtMs: 1_790_000_000_000,
  dismissed: null,
}
const run: InsightScan = { startedAtMs: 1_790_000_000_000, tookMs: 120, found: 1, storeError: null, notes: [] }

/** One host with a disk that is filling up. */
export const fakeInsights = {
  insights: async ({ hostKey, severity = 'warning' }) =>
    hostKey === 'logs' && severity === 'warning' ? [sampleInsight] : [],
  insightStatus: async () => ({ backend: 'clickhouse', reason: null, detectors: ['disk-full'], lastRun: run }),
  insightBackend: async () => ({ backend: 'clickhouse' }),
  generateInsights: async () => ({ ran: true, run, insights: [sampleInsight] }),
  dismissInsight: async (input, call) => {
    if (input.id !== insightId)
      throw new ServiceError('not-found', 'insight not found on this host; it may have expired')
    return {
      ...sampleInsight,
      dismissed: input.dismissed ? { by: call.identity.subject, atMs: 1_790_000_000_001 } : null,
    }
  },
} satisfies Partial<ServiceHandlers<Service<typeof insightMethods>>>

/** One host with a disk that is filling up, which is also reported as an anomaly. */
export const fakeForecasts = {
  forecast: async () => ({
    forecasts: [
      {
        what: 'disk',
        subject: 'default',
        unit: 'bytes',
        now: 90,
        limit: 100,
        perDay: 2,
        spread: 0.5,
        days: { soonest: 4, latest: 5 },
        forecastError: 0.1,
        summary: 'full in 4 to 5 days at this rate',
        projections: [{ days: 7, value: 100, low: 98, high: 100 }],
        record: {
          scored: 12,
          waiting: 8,
          mape: 0.021,
          coverage: 0.917,
          isPoor: false,
          summary: '12 scored forecasts: mean error 2.1 %, 91.7 % within the interval',
        },
      },
    ],
    notes: ['parts: not enough history, fewer than 12 hours of the last day'],
  }),
  anomalies: async () => ({ anomalies: [sampleInsight], notes: [] }),
} satisfies Partial<ServiceHandlers<Service<typeof forecastMethods>>>

/** A `query` service whose host has no rows for detectors and stores nothing. */
export const fakeInsightRows = {
  insightRows: async () => ({ rows: [], sql: 'SELECT 1', unavailable: null }),
  storedFindings: async () => [],
  keepFindings: async ({ insights }) => ({ kept: insights.length }),
  pruneFindings: async () => ({ removed: 0 }),
} satisfies Partial<ServiceHandlers<Service<typeof insightRowMethods>>>

const insightsPath = '/api/v1/insights'

/** A valid request for every route of insights. */
export const insightRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${insightsPath}`]: { url: `${insightsPath}?hostId=1&severity=warning` },
  [`GET ${insightsPath}/backend`]: { url: `${insightsPath}/backend` },
  [`GET ${insightsPath}/status`]: { url: `${insightsPath}/status?hostId=1` },
  [`GET ${insightsPath}/forecast`]: { url: `${insightsPath}/forecast?hostId=1` },
  [`GET ${insightsPath}/anomalies`]: { url: `${insightsPath}/anomalies?hostId=1` },
  [`POST ${insightsPath}/generate`]: { url: `${insightsPath}/generate`, body: { hostId: 1 } },
  [`POST ${insightsPath}/dismiss`]: { url: `${insightsPath}/dismiss`, body: { hostId: 1, id: insightId } },
  'GET /api/v1/findings': { url: '/api/v1/findings?host=1' },
}

const reportId = '0123456789abcdef0123456789abcdef'
const hourMs = 3_600_000
const toMs = 1_790_000_000_000

const quiet: HostReport = {
  id: reportId,
  hostKey: 'logs',
  host: 'logs',
  week: '2026-W38',
  zone: 'UTC',
  fromMs: toMs - 168 * hourMs,
  toMs,
  writtenAtMs: toMs + hourMs,
  score: 100,
  scoreBefore: null,
  headline: '100 of 100: no findings.',
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

const requireReport = (id: string): void => {
  if (id !== reportId) throw new ServiceError('not-found', 'report not found; it may have expired')
}

/** One host without findings in the week. */
export const fakeReports = {
  reports: async ({ hostKey = 'logs' }) => (hostKey === 'logs' ? [{ ...quiet, delivery: 'done' }] : []),
  hostReport: async (input) => {
    requireReport(input.id)
    return { report: quiet, delivery: { status: 'done', targets: [] } }
  },
  renderReport: async (input) => {
    requireReport(input.id)
    return { hostKey: quiet.hostKey, text: input.format === 'html' ? '<!doctype html><h1>logs</h1>' : '# logs\n' }
  },
  buildReport: async ({ hostKey, fromMs, toMs: untilMs }) => ({
    ...quiet,
    hostKey,
    week: null,
    fromMs,
    toMs: untilMs,
  }),
} satisfies Partial<ServiceHandlers<Service<typeof hostReportMethods>>>

/** A `query` service whose host has no rows for reports. */
export const fakeReportRows = {
  reportRows: async () => ({ rows: [], unavailable: null }),
} satisfies Partial<ServiceHandlers<Service<typeof reportRowMethods>>>

const reportsPath = '/api/v1/reports'

/** A valid request for every route of reports. */
export const reportRequests: Readonly<Record<string, ValidRequest>> = {
  [`GET ${reportsPath}`]: { url: `${reportsPath}?hostId=1&limit=5` },
  [`GET ${reportsPath}/{id}`]: { url: `${reportsPath}/${reportId}` },
  [`POST ${reportsPath}`]: {
    url: reportsPath,
    body: { hostId: 1, from: '2026-06-01T00:00:00Z', to: '2026-06-02T00:00:00Z' },
  },
}
