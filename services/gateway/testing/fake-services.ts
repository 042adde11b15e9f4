import { alerts } from '#proto/alerts.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import type { DeadLetterEvent } from '#proto/dead-events.ts'
import type { Deployment } from '#proto/deployments.ts'
import { ServiceError } from '#proto/errors.ts'
import type { InboundEvent } from '#proto/inbound-event.ts'
import { ingest } from '#proto/ingest.ts'
import { mcp } from '#proto/mcp.ts'
import { report } from '#proto/report.ts'
import { fakeAdvice, fakeStructureAdvice } from './advice.ts'
import { fakeAlerting } from './alerting.ts'
import { fakeChannels, fakeChatApplication, fakePagingServices } from './channels.ts'
import { fakeDeliveries, fakeInboundConditions, fakeSubscriptions } from './deliveries.ts'
import { fakeForecasts, fakeInsights, fakeReports } from './reports.ts'
import { createSampleHandlers } from './schema-samples.ts'

const event: InboundEvent = {
  id: 'a1',
  source: 'alertmanager',
  sourceType: 'alertmanager',
  externalId: 'f1',
  dedupKey: 'f1',
  severity: 'critical',
  severityUnknown: false,
  status: 'firing',
  resource: 'db-1',
  title: 'Disk full',
  body: '',
  labels: { alertname: 'Disk' },
  occurredAt: 1_790_000_000_000,
  endsAt: null,
  receivedAt: 1_790_000_000_001,
  url: null,
  truncated: false,
  own: false,
  hops: 0,
  raw: '{}',
}

const deployment: Deployment = {
  id: 'deployment:7:1',
  kind: 'deployment',
  repository: 'acme/shop',
  version: 'main a1b2c3d',
  environment: 'production',
  outcome: 'success',
  title: 'main a1b2c3d to production',
  by: 'grace',
  url: null,
  atMs: 1_790_000_000_000,
}

const dead: DeadLetterEvent = {
  id: '9',
  atMs: 1_790_000_000_001,
  reason: 'its body does not match the schema',
  event: 'a1',
  source: 'alertmanager',
  title: 'Disk full',
  severity: 'critical',
  status: 'firing',
}

/** An `ingest` service with one stored event, which it recognizes as a duplicate, and one deployment. */
export const fakeIngest: ServiceHandlers<typeof ingest> = {
  ...createSampleHandlers(ingest),
  accept: async () => [{ id: event.id, duplicate: true }],
  events: async () => [event],
  storeDeployment: async () => ({}),
  deployments: async () => [deployment],
  deadEvents: async ({ before }) => ({ letters: before === undefined ? [dead] : [], next: null }),
  replayDeadEvent: async ({ id }) => {
    if (id !== dead.id) throw new ServiceError('not-found', 'dead letter not found; it may have been resent already')
    return dead
  },
  prune: async () => ({ removed: { events: 3 } }),
}

/** An MCP server with one tool, which echoes every request. */
export const fakeMcp: ServiceHandlers<typeof mcp> = {
  ...createSampleHandlers(mcp),
  http: async ({ method, headers, body }, { identity }) => ({
    head: { status: 200, headers: { 'content-type': 'application/json' } },
    frames: framesOf(
      JSON.stringify({
        jsonrpc: '2.0',
        result: { method, headers, body, subject: identity.subject },
      }),
    ),
  }),
  offer: async () => ({
    tools: [{ name: 'query', title: 'Query', description: 'Runs a query.' }],
    resources: [{ uri: 'columndb://databases', title: 'Databases' }],
    prompts: [],
  }),
  tools: async () => [{ name: 'query', title: 'Query', description: 'Runs a query.', inputSchema: {}, core: true }],
  call: async () => ({ isError: false, text: 'one row', structured: {} }),
}

async function* framesOf(text: string) {
  yield Buffer.from(text)
  return {}
}

/** An `alert-dispatcher` service with one firing condition. */
export const fakeAlerts: ServiceHandlers<typeof alerts> = {
  ...createSampleHandlers(alerts),
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

/** A `report` service with two subscribed hosts, where the delivery for one failed. */
export const fakeReport: ServiceHandlers<typeof report> = {
  ...createSampleHandlers(report),
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
