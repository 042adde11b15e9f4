import { z } from 'zod'

/** Where chat services say in the body how long to wait, in seconds. */
const Body = z.object({
  retry_after: z.number().optional(),
  /** Of Matrix, in milliseconds. */
  retry_after_ms: z.number().optional(),
  parameters: z.object({ retry_after: z.number().optional() }).optional(),
})

/** How long a server asks to be left alone, in milliseconds: seconds or a date of HTTP in the header, else what the body says. */
export const retryAfterMs = (header: string | null, body: unknown, nowMs: number): number | undefined =>
  fromHeader(header?.trim() ?? '', nowMs) ?? fromBody(body)

const fromHeader = (header: string, nowMs: number): number | undefined => {
  if (/^\d{1,9}(\.\d+)?$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(dateIn(header))
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

/** A date in one of the three forms that HTTP has had; any text with a figure in it passes for a date otherwise. */
const dateIn = (header: string): string => {
  // The oldest form, which names no zone.
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4}$/.test(header)) return `${header} GMT`
  return /^[A-Z][a-z]{2,8}, /.test(header) ? header : ''
}

const fromBody = (body: unknown): number | undefined => {
  const parsed = Body.safeParse(body)
  if (!parsed.success) return undefined
  const { parameters, retry_after: plain, retry_after_ms: ms } = parsed.data
  const seconds = parameters?.retry_after ?? plain ?? (ms === undefined ? undefined : ms / 1_000)
  return seconds === undefined || seconds < 0 ? undefined : seconds * 1_000
}
