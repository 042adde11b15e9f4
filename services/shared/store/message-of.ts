import { z } from 'zod'
import type { ClaimedText } from './driver.ts'
import type { ClaimedMessage } from './store.ts'

const Stored = z.object({ topic: z.string(), payload: z.unknown() })

/** A message as it was appended, of the text that is kept of it. */
export const messageOf = ({ text, ...claimed }: ClaimedText): ClaimedMessage => ({
  ...claimed,
  ...Stored.parse(JSON.parse(text)),
})
