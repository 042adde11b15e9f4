import { InboundEvent, inboundSubjects } from '#proto/inbound-event.ts'
import { inBatches } from '#shared/bus/durable/in-batches.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { unlessPoison } from '#shared/bus/durable/unless-poison.ts'
import { type Taking, takeEvents, type Waiting } from './take.ts'

/** What waits for the store to come back waits for as long as the stream keeps it. */
const tries = 100_000
const maxInFlight = 128

/** Makes conditions of inbound events that fire, and ends them; until disposed. */
export const consumeEvents = (consuming: Taking & { queue: Queue }): Promise<AsyncDisposable> => {
  const consumer = { stream: 'EVENTS', name: 'events-alerted', subjects: inboundSubjects, body: InboundEvent } as const
  // What comes meanwhile is taken together: it is counted once, and no two are in each other's way.
  const { write: take } = inBatches<Waiting>((waiting) => takeEvents(consuming, waiting))
  return consuming.queue.consume(
    { ...consumer, tries, maxInFlight, mayRepeat: true },
    unlessPoison(async ({ body }) => {
      const waiting: Waiting = { event: body }
      await take(waiting)
      if (waiting.failure) throw waiting.failure
      return 'done'
    }),
  )
}
