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
