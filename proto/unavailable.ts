import { z } from 'zod'

/** Why a response is empty although nothing failed. */
export const Unavailable = z.object({
  reason: z.enum(['missing-table', 'permission', 'version']),
  message: z.string(),
  missingTables: z.array(z.string()),
  /** The GRANT statement for an administrator; only for `permission`. */
  grant: z.string().optional(),
})
export type Unavailable = z.infer<typeof Unavailable>

/** Why a result may lack rows: the host hides objects that its configured user may not see. */
export const Incomplete = z.object({
  message: z.string(),
  /** The statement that an administrator runs so that the result is complete. */
  grant: z.string(),
})
export type Incomplete = z.infer<typeof Incomplete>
