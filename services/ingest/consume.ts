import { InboundEvent, inboundSubjects } from '#proto/inbound-event.ts'
import type { Queue } from '#shared/bus/durable/queue.ts'
import { unlessPoison } from '#shared/bus/durable/unless-poison.ts'
import { type Reemitting, mayReemit, reemit } from './reemit.ts'
import type { Events } from './stores/store.ts'

/** A consumer that waits for its server tries on; the age of the stream ends that. */
const tries = 100_000
const reemitsAtOnce = 16

/** Keeps what comes through the queue and hands it on, each at its own pace, until disposed. */
export const consumeEvents = async (queue: Queue, events: Events, reemitting: Reemitting): Promise<AsyncDisposable> => {
  await using opened = new AsyncDisposableStack()
  const wanted = { stream: 'EVENTS', subjects: inboundSubjects, body: InboundEvent, tries } as const
  opened.use(
    await queue.consume(
      { ...wanted, name: 'events-kept', mayRepeat: true },
      unlessPoison(async ({ body }) => {
        await events.put(body)
        return 'done'
      }),
    ),
  )
  // Where nobody is to be told, to be handed each event for nothing would cost a third of what taking it costs.
  if (mayReemit(reemitting)) {
    opened.use(
      await queue.consume(
        { ...wanted, name: 'events-reemitted', maxInFlight: reemitsAtOnce },
        unlessPoison(reemit(reemitting)),
      ),
    )
  }
  return opened.move()
}
