import { z } from 'zod'
import { adviceMethods } from '../advice.ts'
import { longestExplained } from '../explain.ts'
import { QueryId } from '../query-detail.ts'
import { answer } from './answer.ts'
import { bodyHostId } from './parameters.ts'

/** `POST /api/v1/advice`: a statement, or the id of a query in the log. */
export const AdviceRequest = z
  .strictObject({
    hostId: bodyHostId.default(0),
    query: z.string().max(longestExplained, `must not be longer than ${longestExplained} characters`).optional(),
    queryId: QueryId.optional(),
    database: z.string().min(1).max(256).optional(),
  })
  .refine(({ query, queryId }) => (query === undefined) !== (queryId === undefined), {
    path: ['query'],
    message: 'or queryId must be given, and not both',
  })

/** The answer: what is advised, best first, and in `metadata.notes` why nothing is, or not on some table. */
export const AdviceAnswer = answer(
  adviceMethods.advise.output.shape.recommendations,
  z.object({ host: z.string(), notes: z.array(z.string()) }),
)
