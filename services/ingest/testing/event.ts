import type { InboundEvent } from '#proto/inbound-event.ts'

/** Returns a firing event. */
export const createEvent = (more: Partial<InboundEvent> = {}): InboundEvent => ({
  id: 'e1',
  source: 'prometheus',
  sourceType: 'alertmanager',
  externalId: null,
  dedupKey: 'k',
  severity: 'warning',
  severityUnknown: false,
  status: 'firing',
  resource: 'db-1',
  title: 'Disk full',
  body: '',
  labels: {},
  occurredAt: 1_000,
  endsAt: null,
  receivedAt: 1_000,
  url: null,
  truncated: false,
  own: false,
  hops: 0,
  raw: '{}',
  ...more,
})
