import { z } from 'zod'

/** Why an answer is empty although nothing failed. */
export const Unavailable = z.object({
  reason: z.enum(['missing-table', 'permission', 'version']),
  message: z.string(),
  missingTables: z.array(z.string()),
  /** The statement an administrator would run so that the answer becomes possible; with `permission` only. */
  grant: z.string().optional(),
})
export type Unavailable = z.infer<typeof Unavailable>
