import { z } from 'zod'
import { createResponseSchema } from './response.ts'

/** Whether billing is enabled, the reason if not, and the billing server. */
export const BillingStatus = z.object({
  active: z.boolean(),
  /** Whether billing is enabled, or the reason why not, as text. */
  message: z.string(),
  /** URL of the billing server; null if billing is disabled. */
  server: z.string().nullable(),
})
export type BillingStatus = z.infer<typeof BillingStatus>

/** Response of `GET /api/v1/billing`. */
export const BillingResponse = createResponseSchema(BillingStatus, z.object({}))
