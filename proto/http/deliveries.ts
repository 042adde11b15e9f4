import { z } from 'zod'
import { DeadLetterEvent } from '../dead-events.ts'
import { AlertTarget, DeadLetterNotification, CompletedDelivery, deliveryResults } from '../delivery.ts'
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

const word = textParameter.min(1, 'must not be empty').max(160, 'must not be longer than 160 characters')
const limit = createIntegerParameter(1, 500).default(100)
/** The name of the host. `hostId` is null if it is no longer configured; both are null without a host. */
const host = { hostId: z.int().nullable(), host: z.string().nullable() }

/** `GET /api/v1/health/deliveries`: newest first. */
export const DeliveriesQuery = z
  .strictObject({
    channel: word.optional(),
    target: word.optional(),
    episode: word.optional(),
    result: z.enum(deliveryResults).optional(),
    before: createTimeParameter('milliseconds').optional().meta(deprecated),
    cursor: createCursorParameter(createIntegerParameter(0, 4_102_444_799_999)).optional(),
    limit,
  })
  .refine(({ cursor, before }) => isGivenOnce(cursor, before), cursorIssue)
/** Response of `GET /api/v1/health/deliveries`. `nextCursor` is null on the last page. */
export const DeliveriesResponse = createResponseSchema(
  z.array(CompletedDelivery.omit({ hostKey: true }).extend(host)),
  z.object({ next: z.int().nullable().meta(deprecated), nextCursor: z.string().nullable() }),
)

/** `GET /api/v1/health/targets`: the current notification targets and their health. */
export const TargetsResponse = createResponseSchema(z.array(AlertTarget), z.object({ count: z.int() }))

const DeadAlert = DeadLetterNotification.omit({ hostKey: true }).extend({ stream: z.literal('DELIVER'), ...host })
const DeadInbound = DeadLetterEvent.extend({ stream: z.literal('EVENTS') })
/** A dead letter: a notification that could not be delivered, or an inbound event that could not be processed. */
const DeadLetter = z.discriminatedUnion('stream', [DeadAlert, DeadInbound])
const stream = z.enum(['DELIVER', 'EVENTS'])
const letterId = textParameter.regex(/^[1-9]\d{0,14}$/, 'must be the id of a dead letter')

/** `GET /api/v1/health/dead-letters`: newest first, of both streams unless one is specified. */
export const DeadLettersQuery = z
  .strictObject({
    stream: stream.optional(),
    before: letterId.optional().meta(deprecated),
    cursor: createCursorParameter(letterId).optional(),
    limit,
  })
  .refine(({ cursor, before }) => isGivenOnce(cursor, before), cursorIssue)
/** Response of `GET /api/v1/health/dead-letters`. `nextCursor` is null on the last page. */
export const DeadLettersResponse = createResponseSchema(
  z.array(DeadLetter),
  z.object({ next: z.string().nullable().meta(deprecated), nextCursor: z.string().nullable() }),
)

/** `POST /api/v1/health/dead-letters/{id}/replay`: the stream of the dead letter. */
export const ReplayRequest = z.strictObject({ stream: stream.default('DELIVER') })
/** Response of `POST /api/v1/health/dead-letters/{id}/replay`: the resent dead letter. */
export const ReplayResponse = createResponseSchema(DeadLetter, z.object({}))
