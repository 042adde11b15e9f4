import { z } from 'zod'
import { createResponseSchema } from './response.ts'

/** The steps of a new installation, in the order in which they are done. */
export const setupSteps = ['host', 'grants', 'history', 'channel', 'alerting', 'agent'] as const

/** One step: `done`, `open`, or `unknown` if its state could not be determined. */
export const SetupItem = z.object({
  id: z.enum(setupSteps),
  state: z.enum(['done', 'open', 'unknown']),
  /** The state as a sentence. */
  detail: z.string(),
  /** What is missing, such as a GRANT statement of a host. */
  missing: z.array(z.string()),
})
export type SetupItem = z.infer<typeof SetupItem>

/** Response of `GET /api/v1/setup`. Steps of disabled features are absent. */
export const SetupResponse = createResponseSchema(z.array(SetupItem), z.object({ open: z.int() }))
