import { z } from 'zod'
import { SettledId } from './alert-policy.ts'
import { Severity } from './rules.ts'

/** The shapes in which a webhook may be told; `auto` knows several services by their addresses. */
export const TargetFormat = z.enum(['auto', 'raw', 'slack', 'matrix', 'hookshot'])
export type TargetFormat = z.infer<typeof TargetFormat>

/** Texts with `{{names}}` in the place of what a format says itself. */
export const TargetTemplates = z.strictObject({
  title: z.string().min(1).max(200).optional(),
  body: z.string().min(1).max(2_000).optional(),
})
export type TargetTemplates = z.infer<typeof TargetTemplates>

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/, 'must be 1 to 64 letters, digits, blanks, dots, dashes or underscores')

/** What of a target is no secret. */
export const targetFields = {
  name,
  enabled: z.boolean().default(true),
  format: TargetFormat.default('auto'),
  minSeverity: Severity.nullable().default(null),
  templates: TargetTemplates.optional(),
}

/** What is secret: absent keeps what was saved, since it is never given back; null takes headers back. */
export const targetSecrets = {
  url: z.string().trim().min(1).max(2_048).optional(),
  headers: z.record(z.string().max(64), z.string().max(1_024)).nullable().optional(),
}

/** A webhook that is saved in the product. */
export const TargetSaving = z.object({ id: SettledId, ...targetFields, ...targetSecrets })
export type TargetSaving = z.infer<typeof TargetSaving>

/** A webhook as people see it: of its address the end at most, of its headers the names. */
export const ShownTarget = z.object({
  /** Of one that was not saved in the product its name. */
  id: z.string(),
  ...targetFields,
  url: z.string().nullable(),
  headers: z.array(z.string()),
  /** Where it was settled; a newer release may know more. */
  source: z.string().max(32),
})
export type ShownTarget = z.infer<typeof ShownTarget>
