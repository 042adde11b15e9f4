import { z } from 'zod'
import { rpc } from './contract.ts'
import { LetterId } from './delivery.ts'
import { EventSeverity, EventStatus, InboundEvent } from './inbound-event.ts'

/** An inbound event that was given up, as people may see it. What is null could not be read of it. */
export const DeadEvent = z.object({
  id: z.string(),
  atMs: z.number().int(),
  reason: z.string(),
  /** As which it was taken. */
  event: InboundEvent.shape.id.nullable(),
  source: z.string().nullable(),
  title: z.string().nullable(),
  severity: EventSeverity.nullable(),
  status: EventStatus.nullable(),
})
export type DeadEvent = z.infer<typeof DeadEvent>

/** Methods about events that could not be dealt with after they were taken. */
export const deadEventMethods = {
  deadEvents: rpc({
    doc: 'Inbound events that were given up, the newest first; `next` continues as `before`, and is null at the end.',
    callers: ['gateway'],
    feature: 'HEALTH',
    safe: true,
    input: z.object({ before: LetterId.optional(), limit: z.number().int().min(1).max(500) }),
    output: z.object({ letters: z.array(DeadEvent), next: z.string().nullable() }),
  }),
  replayDeadEvent: rpc({
    doc: 'Hands an inbound event that was given up over again, to all who take events; `conflict` for one that nobody can read.',
    callers: ['gateway'],
    feature: 'HEALTH',
    input: z.object({ id: LetterId }),
    output: DeadEvent,
  }),
}
