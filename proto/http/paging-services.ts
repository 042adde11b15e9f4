import { z } from 'zod'
import { PagerDutyService } from '../pagerduty-services.ts'
import { createResponseSchema } from './response.ts'
import { textParameter } from './parameters.ts'

/**
 * Query parameters of `GET /api/v1/health/channels/paging-a/services`, which lists services whose name contains
 * `search`, or all.
 */
export const PagingServicesQuery = z.strictObject({
  search: textParameter.min(1, 'must not be empty').max(100, 'must not be longer than 100 characters').optional(),
})
/** Response of `GET /api/v1/health/channels/paging-a/services`; `more` is true if the list is incomplete. */
export const PagingServicesResponse = createResponseSchema(
  z.array(PagerDutyService),
  z.object({ count: z.int(), more: z.boolean() }),
)
