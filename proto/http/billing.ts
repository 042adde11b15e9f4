import { z } from 'zod'
import { answer } from './answer.ts'

/** Whether people are billed, why not, and where they see what they pay. */
export const Billing = z.object({
  active: z.boolean(),
  /** A sentence for people. */
  message: z.string(),
  /** Address of the billing server, for a link; null where nobody is billed. */
  server: z.string().nullable(),
})
export type Billing = z.infer<typeof Billing>

/** `GET /api/v1/billing` */
export const BillingAnswer = answer(Billing, z.object({}))
