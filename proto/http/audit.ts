import { z } from 'zod'
import { AuditRecord } from '../audit.ts'
import { createResponseSchema } from './response.ts'
import { textParameter, createIntegerParameter } from './parameters.ts'

const word = textParameter.min(1, 'must not be empty').max(256, 'must not be longer than 256 characters')
const maxRecords = 1_000
const defaultRecords = 100

/** `GET /api/v1/audit`: newest first. `before` is the start of the next page in epoch milliseconds. */
export const AuditQuery = z.strictObject({
  action: word.optional(),
  subject: word.optional(),
  host: word.optional(),
  before: createIntegerParameter(0, 4_102_444_799_999).optional(),
  limit: createIntegerParameter(1, maxRecords).default(defaultRecords),
})

/** Response of `GET /api/v1/audit`. `next` is the `before` of the next page; null on the last page. */
export const AuditResponse = createResponseSchema(z.array(AuditRecord), z.object({ next: z.number().int().nullable() }))
