import type { alerts } from '#proto/alerts.ts'
import type { Handlers } from '#proto/contract.ts'
import type { report } from '#proto/report.ts'
import { fakeAdvice } from './advice.ts'
import { fakeAlerting } from './alerting.ts'
import { fakeChatApplication } from './chat-application.ts'
import { fakeChannels } from './channels.ts'
import { fakeForecasts, fakeInsights } from './insights.ts'
import { fakeStructureAdvice } from './structure-advice.ts'
import { fakeReports } from './reports.ts'
import { fakeDeliveries } from './deliveries.ts'
import { fakePagingServices } from './paging-services.ts'
import { fakeInboundConditions } from './inbound-conditions.ts'
import { fakeSubscriptions } from './subscriptions.ts'

/** An `alert-dispatcher` that finds one condition firing. */
export const fakeAlerts: Handlers<typeof alerts> = {
  firing: async () => [{ hostKey: 'logs', conditions: 1 }],
  worstFindings: async () => [{ hostKey: 'logs', severity: 'critical', title: 'Disk full' }],
  sweep: async () => ({
    hosts: 2,
    checks: 160,
    findings: 3,
    firing: 1,
    dispatched: 1,
    messages: 1,
    suppressed: { maintenance: 2 },
    unknown: 4,
    tookMs: 350,
  }),
  notify: async () => [],
  prune: async () => ({ removed: { deliveries: 4 } }),
  ...fakeDeliveries,
  ...fakeChannels,
  ...fakePagingServices,
  ...fakeSubscriptions,
  ...fakeChatApplication,
  ...fakeInboundConditions,
  ...fakeAlerting,
}

/** A `report` with two hosts opted in, one of which could not be told. */
export const fakeReport: Handlers<typeof report> = {
  worstFindings: async () => [
    { hostKey: 'logs', severity: 'warning', title: 'Slow merges' },
    { hostKey: 'analytics', severity: 'warning', title: 'Many parts' },
  ],
  weekly: async () => ({ written: 2, delivered: 1 }),
  prune: async () => ({ removed: { findings: 12, reports: 0 } }),
  ...fakeAdvice,
  ...fakeInsights,
  ...fakeForecasts,
  ...fakeReports,
  ...fakeStructureAdvice,
}
