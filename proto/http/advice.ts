import { z } from 'zod'
import { adviceMethods } from '../advice.ts'
import { maxExplainStatementLength } from '../explain.ts'
import { QueryId } from '../query-detail.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId } from './parameters.ts'

/** `POST /api/v1/advice`: a statement, or the id of a query in the log. */
export const AdviceRequest = z
  .strictObject({
    hostId: bodyHostId.default(0),
    query: z
      .string()
      .max(maxExplainStatementLength, `must not be longer than ${maxExplainStatementLength} characters`)
      .optional(),
    queryId: QueryId.optional(),
    database: z.string().min(1).max(256).optional(),
  })
  .refine(({ query, queryId }) => (query === undefined) !== (queryId === undefined), {
    path: ['query'],
    message: 'or queryId is required, but not both',
  })

/**
 * Response of `POST /api/v1/advice`: recommendations, best first. `metadata.notes` explain why there are none, or why a
 * table was skipped.
 */
export const AdviceResponse = createResponseSchema(
  adviceMethods.advise.output.shape.recommendations,
  z.object({ host: z.string(), notes: z.array(z.string()) }),
)
