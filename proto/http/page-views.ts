import { z } from 'zod'
import { answer } from './answer.ts'

/** `POST /api/v1/page-views`: the pattern of the path that was opened, without anything that stands in an address. */
export const PageViewRequest = z.strictObject({
  page: z
    .string()
    .max(200, 'must not be longer than 200 characters')
    .regex(/^\/[\w\-/[\].=]*$/, 'must be the pattern of a path, such as /tables/[name]'),
})

/** Its answer: whether it is kept. */
export const PageViewAnswer = answer(z.object({ kept: z.boolean() }), z.object({}))
