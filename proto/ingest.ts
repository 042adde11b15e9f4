import { z } from 'zod'
import { rpc, service } from './contract.ts'
import { deadEventMethods } from './dead-events.ts'
import { deploymentMethods } from './deployments.ts'
import { EventSeverity, EventStatus, InboundEvent, eventBounds } from './inbound-event.ts'
import { pruneMethods } from './prune.ts'

/** Longest body of a request that brings events, in bytes. */
export const longestIngestBody = 256 * 1024
/** More than fit into such a body from any sender that groups its alerts: a refused group would not be sent again. */
export const mostEvents = 1_000

/** Header fields that say something of an event; no other one reaches `ingest`, and never a credential. */
export const isIngestHeader = (name: string): boolean =>
  name === 'content-type' ||
  name === 'idempotency-key' ||
  name === 'x-webhook-id' ||
  name === 'x-reemit-hops' ||
  name.startsWith('ce-')

/** What became of one event of a request: it is kept, or a sentence says what is wrong with it. */
export const Taken = z.union([
  z.object({ id: InboundEvent.shape.id, duplicate: z.boolean() }),
  z.object({ error: z.string().max(1_000) }),
])
export type Taken = z.infer<typeof Taken>

const mostListed = 500

/** Which events are wanted, the newest first. */
export const EventFilter = z.object({
  source: z.string().max(eventBounds.source).optional(),
  severity: EventSeverity.optional(),
  status: EventStatus.optional(),
  /** Text that title, body, resource, key or source contains, in either case. */
  search: z.string().max(256).optional(),
  /** By when they were received. */
  fromMs: z.int().min(0).optional(),
  toMs: z.int().min(0).optional(),
  /** Those after this place, as an earlier page named it. */
  after: z.object({ receivedAt: z.int().min(0), id: z.string().max(64) }).optional(),
  limit: z.int().min(1).max(mostListed),
})
export type EventFilter = z.infer<typeof EventFilter>

/** Takes events of other systems, keeps them and hands them on. */
export const ingest = service('ingest', {
  accept: rpc({
    doc: 'Keeps the events of one request in the queue, then answers what became of each; `conflict` for an idempotency key that came with another body.',
    callers: ['gateway'],
    input: z.object({
      body: z.string().max(longestIngestBody),
      headers: z.record(z.string().max(128), z.string().max(16_384)),
    }),
    output: z.array(Taken).max(mostEvents),
  }),
  events: rpc({
    doc: 'Events that were received, the newest first.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: EventFilter,
    output: z.array(InboundEvent),
  }),
  ...deadEventMethods,
  ...deploymentMethods,
  ...pruneMethods,
})
