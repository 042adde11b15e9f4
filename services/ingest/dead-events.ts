import type { ServiceHandlers } from '#proto/contract.ts'
import type { DeadLetterEvent, deadLetterEventMethods } from '#proto/dead-events.ts'
import { ServiceError } from '#proto/errors.ts'
import { InboundEvent } from '#proto/inbound-event.ts'
import type { ingest } from '#proto/ingest.ts'
import type { DeadLetter, Queue } from '#shared/bus/durable/queue.ts'
import { streamConfigs } from '#shared/bus/durable/streams.ts'
import { createSubjectMatcher } from '#shared/bus/subject.ts'

type DeadEventHandlers = Pick<ServiceHandlers<typeof ingest>, keyof typeof deadLetterEventMethods>

/** Returns the handlers for inbound events that could not be processed: list and resend. */
export const createDeadEventHandlers = (queue: Pick<Queue, 'dead' | 'publish'>): DeadEventHandlers => ({
  deadEvents: async (page) => {
    const { letters, next } = await queue.dead.EVENTS.list(page)
    return { letters: letters.filter(isEvent).map(toDeadEvent), next }
  },
  replayDeadEvent: async ({ id }) => {
    const letter = await queue.dead.EVENTS.get(id)
    if (!letter || !isEvent(letter))
      throw new ServiceError('not-found', 'dead letter not found; it may have been resent already')
    const { data: event } = InboundEvent.safeParse(letter.body)
    if (!event) throw new ServiceError('conflict', 'cannot resend the event: it cannot be parsed')
    // The message id contains the id of the dead letter, so that repeated requests resend it only once.
    await queue.publish(letter.subject, { id: `${letter.messageId}:again:${id}`, body: event })
    await queue.dead.EVENTS.remove(id)
    return toDeadEvent(letter)
  },
})

const eventMatchers = streamConfigs.EVENTS.subjects.map(createSubjectMatcher)

const isEvent = ({ subject }: DeadLetter): boolean => eventMatchers.some((matches) => matches(subject))

const toDeadEvent = ({ id, atMs, reason, body }: DeadLetter): DeadLetterEvent => {
  const { data: event } = InboundEvent.safeParse(body)
  const { source = null, title = null, severity = null, status = null } = event ?? {}
  return { id, atMs, reason, event: event?.id ?? null, source, title, severity, status }
}
