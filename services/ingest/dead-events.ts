import type { Handlers } from '#proto/contract.ts'
import type { DeadEvent, deadEventMethods } from '#proto/dead-events.ts'
import { ServiceError } from '#proto/errors.ts'
import { InboundEvent } from '#proto/inbound-event.ts'
import type { ingest } from '#proto/ingest.ts'
import type { DeadLetter, Queue } from '#shared/bus/durable/queue.ts'
import { streams } from '#shared/bus/durable/streams.ts'
import { matcher } from '#shared/bus/match.ts'

type Handled = Pick<Handlers<typeof ingest>, keyof typeof deadEventMethods>

/** Inbound events that could not be dealt with: seen, and handed over again. */
export const deadEventHandlers = (queue: Pick<Queue, 'dead' | 'publish'>): Handled => ({
  deadEvents: async (page) => {
    const { letters, next } = await queue.dead.EVENTS.list(page)
    return { letters: letters.filter(isEvent).map(shownOf), next }
  },
  replayDeadEvent: async ({ id }) => {
    const letter = await queue.dead.EVENTS.get(id)
    if (!letter || !isEvent(letter))
      throw new ServiceError('not-found', 'no such dead letter; it may have been sent again already')
    const { data: event } = InboundEvent.safeParse(letter.body)
    if (!event) throw new ServiceError('conflict', 'this event cannot be read, so it would be given up again')
    // Named after the letter, so that asking twice hands it over once.
    await queue.publish(letter.subject, { id: `${letter.messageId}:again:${id}`, body: event })
    await queue.dead.EVENTS.remove(id)
    return shownOf(letter)
  },
})

const ofEvents = streams.EVENTS.subjects.map(matcher)

const isEvent = ({ subject }: DeadLetter): boolean => ofEvents.some((matches) => matches(subject))

const shownOf = ({ id, atMs, reason, body }: DeadLetter): DeadEvent => {
  const { data: event } = InboundEvent.safeParse(body)
  const { source = null, title = null, severity = null, status = null } = event ?? {}
  return { id, atMs, reason, event: event?.id ?? null, source, title, severity, status }
}
