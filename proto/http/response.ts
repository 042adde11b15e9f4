import { z } from 'zod'

/** Returns the schema of a successful response, for routes whose shape the specification does not define. */
export const createResponseSchema = <D extends z.ZodType, M extends z.ZodType>(data: D, metadata: M) =>
  z.object({ success: z.literal(true), data, metadata })

/** The body of every error response below `/api`. `type` is the error code. */
export const ErrorResponse = z.object({
  success: z.literal(false),
  error: z.object({
    type: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
  metadata: z.object({ requestId: z.string() }),
})
export type ErrorResponse = z.infer<typeof ErrorResponse>
