import { z } from 'zod'
import { PagingService } from '../paging-services.ts'
import { answer } from './answer.ts'
import { text } from './parameters.ts'

/** `GET /api/v1/health/channels/paging-a/services`: those whose name holds a text, or all. */
export const PagingServicesQuery = z.strictObject({
  search: text.min(1, 'must not be empty').max(100, 'must not be longer than 100 characters').optional(),
})
/** Its answer; `more` when there are more than are listed. */
export const PagingServicesAnswer = answer(z.array(PagingService), z.object({ count: z.int(), more: z.boolean() }))
