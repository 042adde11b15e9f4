import { z } from 'zod'
import { retryAfterOf } from '#shared/net/retry-after.ts'

/** Where chat services say in the body how long to wait, in seconds. */
const Body = z.object({
  retry_after: z.number().optional(),
  /** Of Matrix, in milliseconds. */
  retry_after_ms: z.number().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
})

/** How long a server asks to be left alone, in milliseconds: by its headers, else by what the body says. */
export const retryAfterMs = (headers: Pick<Headers, 'get'>, body: unknown): number | undefined =>
  retryAfterOf(headers) ?? fromBody(body)

const fromBody = (body: unknown): number | undefined => {
  const parsed = Body.safeParse(body)
  if (!parsed.success) return undefined
  const { parameters, retry_after: plain, retry_after_ms: ms } = parsed.data
  const seconds = parameters?.retry_after ?? plain ?? (ms === undefined ? undefined : ms / 1_000)
  return seconds === undefined || seconds < 0 ? undefined : seconds * 1_000
}
