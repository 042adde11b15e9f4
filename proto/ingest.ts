import { z } from 'zod'
import { rpc, service } from './contract.ts'
import { deadLetterEventMethods } from './dead-events.ts'
import { deploymentMethods } from './deployments.ts'
import { EventSeverity, EventStatus, InboundEvent, eventLimits } from './inbound-event.ts'
import { pruneMethods } from './retention.ts'

/** Maximum size of an ingestion request in bytes. */
export const maxIngestBodyBytes = 256 * 1024
/**
 * Maximum events per request. Real requests reach the limit of the body size first, so this limit does not reject them.
 * Senders such as Alertmanager would not resend a rejected request.
 */
export const maxEventsPerRequest = 1_000

const ingestHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'idempotency-key',
  'x-webhook-id',
  'x-reemit-hops',
  'x-github-event',
  'sentry-hook-resource',
])

/** Returns whether a header is passed to `ingest`: only headers that describe events, never credentials. */
export const isIngestHeader = (name: string): boolean => ingestHeaders.has(name) || name.startsWith('ce-')

/** The result for one event of a request: it is stored, or rejected with a reason. */
export const IngestResult = z.union([
  z.object({ id: InboundEvent.shape.id, duplicate: z.boolean() }),
  z.object({ error: z.string().max(1_000) }),
])
export type IngestResult = z.infer<typeof IngestResult>

const maxListed = 500

/** Filters and page of an event list. */
export const EventFilter = z.object({
  source: z.string().max(eventLimits.source).optional(),
  severity: EventSeverity.optional(),
  status: EventStatus.optional(),
  /** Case-insensitive substring of title, body, resource, key or source. */
  search: z.string().max(256).optional(),
  /** Range of the receive time. */
  fromMs: z.int().min(0).optional(),
  toMs: z.int().min(0).optional(),
  /** Cursor from an earlier page. */
  after: z.object({ receivedAt: z.int().min(0), id: z.string().max(64) }).optional(),
  limit: z.int().min(1).max(maxListed),
})
export type EventFilter = z.infer<typeof EventFilter>

/** Accepts events of other systems, stores and forwards them. */
export const ingest = service('ingest', {
  accept: rpc({
    doc: 'Queues the events of one request and returns the result of each; `conflict` for an idempotency key that was used with another body.',
    callers: ['gateway'],
    input: z.object({
      body: z.string().max(maxIngestBodyBytes),
      headers: z.record(z.string().max(128), z.string().max(16_384)),
    }),
    output: z.array(IngestResult).max(maxEventsPerRequest),
  }),
  events: rpc({
    doc: 'Lists received events, newest first.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: EventFilter,
    output: z.array(InboundEvent),
  }),
  ...deadLetterEventMethods,
  ...deploymentMethods,
  ...pruneMethods,
})
