import { z } from 'zod'
import { DeadEvent } from '../dead-events.ts'
import { AlertTarget, DeadNotice, Delivered, ends } from '../delivery.ts'
import { answer } from './answer.ts'
import { text, whole } from './parameters.ts'

const word = text.min(1, 'must not be empty').max(160, 'must not be longer than 160 characters')
const limit = whole(1, 500).default(100)
/** As lists name it; `hostId` is null of one that is not in the list any more, both are null where none is concerned. */
const host = { hostId: z.int().nullable(), host: z.string().nullable() }

/** `GET /api/v1/health/deliveries`: the newest first; `before` is where the next page goes on, in epoch milliseconds. */
export const DeliveriesQuery = z.strictObject({
  channel: word.optional(),
  target: word.optional(),
  episode: word.optional(),
  result: z.enum(ends).optional(),
  before: whole(0, 4_102_444_799_999).optional(),
  limit,
})
/** Its answer; `next` is what `before` must be for older ones, null when there are none. */
export const DeliveriesAnswer = answer(
  z.array(Delivered.omit({ hostKey: true }).extend(host)),
  z.object({ next: z.int().nullable() }),
)

/** `GET /api/v1/health/targets`: where alerts go now, and how each of them fares. */
export const TargetsAnswer = answer(z.array(AlertTarget), z.object({ count: z.int() }))

const DeadAlert = DeadNotice.omit({ hostKey: true }).extend({ stream: z.literal('DELIVER'), ...host })
const DeadInbound = DeadEvent.extend({ stream: z.literal('EVENTS') })
/** What was given up: an alert that could not be delivered, or an inbound event that could not be dealt with. */
const Dead = z.discriminatedUnion('stream', [DeadAlert, DeadInbound])
const stream = z.enum(['DELIVER', 'EVENTS'])
const letterId = text.regex(/^[1-9]\d{0,14}$/, 'must be the id of a dead letter')

/** `GET /api/v1/health/dead-letters`: what was given up, the newest first, of both streams unless one is named; `before` is the `next` of the page before. */
export const DeadLettersQuery = z.strictObject({ stream: stream.optional(), before: letterId.optional(), limit })
/** Its answer. */
export const DeadLettersAnswer = answer(z.array(Dead), z.object({ next: z.string().nullable() }))

/** `POST /api/v1/health/dead-letters/{id}/replay`: which stream the letter is of. */
export const ReplayRequest = z.strictObject({ stream: stream.default('DELIVER') })
/** The letter that is sent again. */
export const ReplayAnswer = answer(Dead, z.object({}))
