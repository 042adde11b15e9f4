import type { Handlers, Service } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { forecastMethods } from '#proto/forecasts.ts'
import type { insightRowMethods } from '#proto/insight-rows.ts'
import type { Insight, insightMethods, InsightRun } from '#proto/insights.ts'
import type { GoodRequest } from './auth-requests.ts'

const id = '0123456789abcdef'
/** Of the host `logs`. */
export const insight: Insight = {
  id,
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
const run: InsightRun = { startedAtMs: 1_790_000_000_000, tookMs: 120, found: 1, notKept: null, notes: [] }

/** One host whose disk fills up. */
export const fakeInsights: Handlers<Service<typeof insightMethods>> = {
  insights: async ({ hostKey, severity = 'warning' }) =>
    hostKey === 'logs' && severity === 'warning' ? [insight] : [],
  insightStatus: async () => ({ backend: 'clickhouse', reason: null, detectors: ['disk-full'], lastRun: run }),
  insightBackend: async () => ({ backend: 'clickhouse' }),
  generateInsights: async () => ({ ran: true, run, insights: [insight] }),
  dismissInsight: async (asked, call) => {
    if (asked.id !== id)
      throw new ServiceError('not-found', 'no such insight on this host; it may have been removed as old')
    return { ...insight, dismissed: asked.dismissed ? { by: call.identity.subject, atMs: 1_790_000_000_001 } : null }
  },
}

/** One host whose disk fills up, which is not as usual. */
export const fakeForecasts: Handlers<Service<typeof forecastMethods>> = {
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
        missedBy: 0.1,
        outlook: 'full in 4 to 5 days if it goes on so',
      },
    ],
    notes: ['parts: not enough history, fewer than 12 hours of the last day'],
  }),
  anomalies: async () => ({ anomalies: [insight], notes: [] }),
}

/** A `query` whose host has no rows for detectors and keeps nothing. */
export const fakeInsightRows: Handlers<Service<typeof insightRowMethods>> = {
  insightRows: async () => ({ rows: [], sql: 'SELECT 1', unavailable: null }),
  storedFindings: async () => [],
  keepFindings: async ({ insights }) => ({ kept: insights.length }),
  pruneFindings: async () => ({ removed: 0 }),
}

const base = '/api/v1/insights'

/** A good request of every route about insights. */
export const insightRequests: Readonly<Record<string, GoodRequest>> = {
  [`GET ${base}`]: { url: `${base}?hostId=1&severity=warning` },
  [`GET ${base}/backend`]: { url: `${base}/backend` },
  [`GET ${base}/status`]: { url: `${base}/status?hostId=1` },
  [`GET ${base}/forecast`]: { url: `${base}/forecast?hostId=1` },
  [`GET ${base}/anomalies`]: { url: `${base}/anomalies?hostId=1` },
  [`POST ${base}/generate`]: { url: `${base}/generate`, body: { hostId: 1 } },
  [`POST ${base}/dismiss`]: { url: `${base}/dismiss`, body: { hostId: 1, id } },
  'GET /api/v1/findings': { url: '/api/v1/findings?host=1' },
}
