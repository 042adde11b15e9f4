import { z } from 'zod'
import { AuditRecord } from '../audit.ts'
import { createResponseSchema } from './response.ts'
import {
  createCursorParameter,
  createIntegerParameter,
  createTimeParameter,
  cursorIssue,
  deprecated,
  hostId,
  hostIssue,
  isGivenOnce,
  textParameter,
} from './parameters.ts'

const word = textParameter.min(1, 'must not be empty').max(256, 'must not be longer than 256 characters')
const maxRecords = 1_000
const defaultRecords = 100

/** `GET /api/v1/audit`: newest first. `host` is the name of a host, as records contain it. */
export const AuditQuery = z
  .strictObject({
    action: word.optional(),
    subject: word.optional(),
    hostId: hostId.optional(),
    host: word.optional().meta(deprecated),
    before: createTimeParameter('milliseconds').optional().meta(deprecated),
    cursor: createCursorParameter(createIntegerParameter(0, 4_102_444_799_999)).optional(),
    limit: createIntegerParameter(1, maxRecords).default(defaultRecords),
  })
  .refine(({ cursor, before }) => isGivenOnce(cursor, before), cursorIssue)
  .refine(({ hostId, host }) => isGivenOnce(hostId, host), hostIssue)

/** Response of `GET /api/v1/audit`. `nextCursor` is null on the last page. */
export const AuditResponse = createResponseSchema(
  z.array(AuditRecord),
  z.object({ next: z.number().int().nullable().meta(deprecated), nextCursor: z.string().nullable() }),
)
