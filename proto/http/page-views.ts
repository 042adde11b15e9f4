import { z } from 'zod'
import { createResponseSchema } from './response.ts'

/** Body of `POST /api/v1/page-views`: the route pattern of the opened page, without the values in its address. */
export const PageViewRequest = z.strictObject({
  page: z
    .string()
    .max(200, 'must not be longer than 200 characters')
    .regex(/^\/[\w\-/[\].=]*$/, 'must be the pattern of a path, such as /tables/[name]'),
})

/** Response of `POST /api/v1/page-views`: whether the page view is stored. */
export const PageViewResponse = createResponseSchema(z.object({ kept: z.boolean() }), z.object({}))
