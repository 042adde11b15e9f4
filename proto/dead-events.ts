import { z } from 'zod'
import { rpc } from './contract.ts'
import { DeadLetterId } from './delivery.ts'
import { EventSeverity, EventStatus, InboundEvent } from './inbound-event.ts'

/** A failed inbound event without secrets. Fields that could not be parsed are null. */
export const DeadLetterEvent = z.object({
  id: z.string(),
  atMs: z.number().int(),
  reason: z.string(),
  /** Id of the accepted event. */
  event: InboundEvent.shape.id.nullable(),
  source: z.string().nullable(),
  title: z.string().nullable(),
  severity: EventSeverity.nullable(),
  status: EventStatus.nullable(),
})
export type DeadLetterEvent = z.infer<typeof DeadLetterEvent>

/** Methods for accepted events whose processing failed. */
export const deadLetterEventMethods = {
  deadEvents: rpc({
    doc: 'Lists failed inbound events, newest first. `next` is the `before` of the next page; null on the last page.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({ before: DeadLetterId.optional(), limit: z.number().int().min(1).max(500) }),
    output: z.object({ letters: z.array(DeadLetterEvent), next: z.string().nullable() }),
  }),
  replayDeadEvent: rpc({
    doc: 'Sends a failed inbound event to all its consumers again; `conflict` for one that cannot be read.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({ id: DeadLetterId }),
    output: DeadLetterEvent,
  }),
}
