import type { Handlers } from '#proto/contract.ts'
import type { DeadEvent } from '#proto/dead-events.ts'
import type { Deployment } from '#proto/deployments.ts'
import { ServiceError } from '#proto/errors.ts'
import type { InboundEvent } from '#proto/inbound-event.ts'
import type { ingest } from '#proto/ingest.ts'

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

const dead: DeadEvent = {
  id: '9',
  atMs: 1_790_000_000_001,
  reason: 'its content does not fit',
  event: 'a1',
  source: 'alertmanager',
  title: 'Disk full',
  severity: 'critical',
  status: 'firing',
}

/** An `ingest` that has kept one event and knows it when it comes, and one deployment. */
export const fakeIngest: Handlers<typeof ingest> = {
  accept: async () => [{ id: event.id, duplicate: true }],
  events: async () => [event],
  keepDeployment: async () => ({}),
  deployments: async () => [deployment],
  deadEvents: async ({ before }) => ({ letters: before === undefined ? [dead] : [], next: null }),
  replayDeadEvent: async ({ id }) => {
    if (id !== dead.id) throw new ServiceError('not-found', 'no such dead letter; it may have been sent again already')
    return dead
  },
  prune: async () => ({ removed: { events: 3 } }),
}
