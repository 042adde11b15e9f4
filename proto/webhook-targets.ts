import { z } from 'zod'
import { AlertConfigId } from './alert-policy.ts'
import { Severity } from './rules.ts'

/** The payload formats of webhooks; `auto` recognizes several services by their addresses. */
export const TargetFormat = z.enum(['auto', 'raw', 'slack', 'matrix', 'hookshot'])
export type TargetFormat = z.infer<typeof TargetFormat>

/** Templates with `{{names}}` that replace the default texts of a format. */
export const TargetTemplates = z.strictObject({
  title: z.string().min(1).max(200).optional(),
  body: z.string().min(1).max(2_000).optional(),
})
export type TargetTemplates = z.infer<typeof TargetTemplates>

const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$/, 'must be 1 to 64 letters, digits, spaces, dots, dashes or underscores')

/** The fields of a target that are not secret. */
export const targetFields = {
  name,
  enabled: z.boolean().default(true),
  format: TargetFormat.default('auto'),
  minSeverity: Severity.nullable().default(null),
  templates: TargetTemplates.optional(),
}

/**
 * The secret fields of a target. An absent field keeps its saved value, because secrets are never returned. Null
 * deletes the headers.
 */
export const targetSecrets = {
  url: z.string().trim().min(1).max(2_048).optional(),
  headers: z.record(z.string().max(64), z.string().max(1_024)).nullable().optional(),
}

/** A webhook target saved in the database. */
export const WebhookTargetInput = z.object({ id: AlertConfigId, ...targetFields, ...targetSecrets })
export type WebhookTargetInput = z.infer<typeof WebhookTargetInput>

/** A webhook target without secrets. It has at most the end of the address, and only the names of headers. */
export const WebhookTargetView = z.object({
  /** The id, or the name if the target is not saved in the database. */
  id: z.string(),
  ...targetFields,
  url: z.string().nullable(),
  headers: z.array(z.string()),
  /** The source of the entry; a newer release may add values. */
  source: z.string().max(32),
})
export type WebhookTargetView = z.infer<typeof WebhookTargetView>
