import type { Handlers } from '#proto/contract.ts'
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

/** An `ingest` that has kept one event and knows it when it comes. */
export const fakeIngest: Handlers<typeof ingest> = {
  accept: async () => [{ id: event.id, duplicate: true }],
  events: async () => [event],
  prune: async () => ({ removed: { events: 3 } }),
}
