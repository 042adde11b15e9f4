import { z } from 'zod'

/** Why a response is empty although nothing failed. */
export const UnavailableReason = z.object({
  reason: z.enum(['missing-table', 'permission', 'version']),
  message: z.string(),
  missingTables: z.array(z.string()),
  /** The GRANT statement for an administrator; only for `permission`. */
  grant: z.string().optional(),
})
export type UnavailableReason = z.infer<typeof UnavailableReason>

/** Why a result may lack rows: the host hides objects that its configured user may not see. */
export const IncompleteReason = z.object({
  message: z.string(),
  /** The statement that an administrator runs so that the result is complete. */
  grant: z.string(),
})
export type IncompleteReason = z.infer<typeof IncompleteReason>
