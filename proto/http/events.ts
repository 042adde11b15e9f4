import { z } from 'zod'
import { EventSeverity, EventStatus, InboundEvent, eventLimits } from '../inbound-event.ts'
import { createResponseSchema } from './response.ts'
import {
  createCursorParameter,
  createIntegerParameter,
  createTimeParameter,
  cursorIssue,
  deprecated,
  isGivenOnce,
  textParameter,
} from './parameters.ts'

const Whole = z.int().min(0)

/** Media types that event senders can use: JSON, or one JSON object per line. */
export const eventMediaTypes = [
  'application/json',
  'application/cloudevents+json',
  'application/cloudevents-batch+json',
  'application/x-ndjson',
] as const

/** `POST /api/events/ingest`: the token of senders that cannot set headers, if `SVC_EVENTS_QUERY_TOKEN` is set. */
export const IngestQuery = z.object({ token: textParameter.optional() })

/** The body of `POST /api/events/ingest`: one event or several, of any shape. */
export const IngestBody = z.union([z.looseObject({}), z.array(z.looseObject({}))])

/**
 * Response of `POST /api/events/ingest`: the number of stored events, including duplicates. `errors` contains rejected
 * events by index.
 */
export const IngestResponse = createResponseSchema(
  z.object({
    accepted: Whole,
    /** Number of accepted events that were stored before. */
    duplicates: Whole,
    ids: z.array(InboundEvent.shape.id),
    errors: z.array(z.object({ index: Whole, message: z.string() })),
  }),
  z.object({}),
)

const word = textParameter.min(1, 'must not be empty').max(eventLimits.source, 'must not be longer than 128 characters')
const cursorSentence = 'must be the `nextCursor` of an earlier response'

/** A page cursor: receive time and id of the last event of the previous page. */
const EventCursor = textParameter.regex(/^\d{1,15}-[0-9a-f]{1,64}$/, cursorSentence).transform((cursor) => {
  const dash = cursor.indexOf('-')
  return { receivedAt: Number(cursor.slice(0, dash)), id: cursor.slice(dash + 1) }
})

/** Returns the cursor for the page after an event. */
export const formatEventCursor = ({ receivedAt, id }: Pick<InboundEvent, 'receivedAt' | 'id'>): string =>
  `${receivedAt}-${id}`

/** `GET /api/v1/events`: newest first. */
export const EventsQuery = z
  .strictObject({
    source: word.optional(),
    severity: z.enum(EventSeverity.options, `must be one of ${EventSeverity.options.join(', ')}`).optional(),
    status: z.enum(EventStatus.options, `must be one of ${EventStatus.options.join(', ')}`).optional(),
    search: textParameter.min(1, 'must not be empty').max(256, 'must not be longer than 256 characters').optional(),
    from: createTimeParameter('milliseconds').optional(),
    to: createTimeParameter('milliseconds').optional(),
    before: EventCursor.optional().meta(deprecated),
    cursor: createCursorParameter(EventCursor).optional(),
    limit: createIntegerParameter(1, 500).default(100),
  })
  .refine(({ cursor, before }) => isGivenOnce(cursor, before), cursorIssue)

/** Response of `GET /api/v1/events`. `nextCursor` is null on the last page. */
export const EventsResponse = createResponseSchema(
  z.array(InboundEvent),
  z.object({ next: z.string().nullable().meta(deprecated), nextCursor: z.string().nullable() }),
)
