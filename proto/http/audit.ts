import { z } from 'zod'
import { AuditRecord } from '../audit.ts'
import { answer } from './answer.ts'
import { text, whole } from './parameters.ts'

const word = text.min(1, 'must not be empty').max(256, 'must not be longer than 256 characters')
const mostRecords = 1_000
const usualRecords = 100

/** `GET /api/v1/audit`: the newest first; `before` is where the next page goes on, in epoch milliseconds. */
export const AuditQuery = z.strictObject({
  action: word.optional(),
  subject: word.optional(),
  host: word.optional(),
  before: whole(0, 4_102_444_799_999).optional(),
  limit: whole(1, mostRecords).default(usualRecords),
})

/** The answer; `next` is what `before` must be for older records, null when there are none. */
export const AuditAnswer = answer(z.array(AuditRecord), z.object({ next: z.number().int().nullable() }))
