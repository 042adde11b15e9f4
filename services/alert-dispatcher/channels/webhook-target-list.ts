import { z } from 'zod'
import { targetFields } from '#proto/webhook-targets.ts'
import { parseJson } from '#shared/text/strings.ts'
import type { WebhookTarget } from '../policy.ts'

/** Schema for the name of an environment variable. */
export const EnvironmentVariableName = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]{0,127}$/, 'must be the name of a variable, such as TEAM_WEBHOOK')

const { name, enabled, format, minSeverity, templates } = targetFields

/** A webhook in files and variables; its URL is in a separate variable. */
export const FileWebhookTarget = z.strictObject({
  name,
  urlEnv: EnvironmentVariableName,
  headersEnv: EnvironmentVariableName.optional(),
  enabled,
  format,
  minSeverity,
  templates,
})

/** Invalid minimum severities are ignored, as everywhere, so that a typo does not block alerts. */
const Entry = FileWebhookTarget.extend({ minSeverity: FileWebhookTarget.shape.minSeverity.catch(null) })

/** Maximum number of additional webhooks per source. */
export const maxWebhookTargets = 32

/** Parses the targets of a variable. Problems never quote the text, because it may contain an address by mistake. */
export const parseTargetList = (text: string | undefined): { targets: WebhookTarget[]; problems: string[] } => {
  if (text === undefined || text.trim() === '') return { targets: [], problems: [] }
  const entries = z.array(z.unknown()).safeParse(parseJson(text))
  if (!entries.success) return { targets: [], problems: ['must be a JSON array'] }
  const targets = new Map<string, WebhookTarget>()
  const problems: string[] = []
  for (const [index, entry] of entries.data.entries()) {
    const skip = (reason: string) => problems.push(`entry ${index + 1} ${reason}`)
    const { data: target, error } = Entry.safeParse(entry)
    if (!target) skip(describeEntryError(error))
    else if (targets.has(target.name)) skip('has the same name as an earlier entry')
    else if (targets.size >= maxWebhookTargets) skip(`exceeds the maximum of ${maxWebhookTargets} targets`)
    else targets.set(target.name, target)
  }
  return { targets: [...targets.values()], problems }
}

const describeEntryError = ({ issues: [first] }: z.ZodError): string => {
  if (first?.code === 'unrecognized_keys') return 'has an unknown field'
  return first?.path.length ? `has an invalid value of ${first.path.join('.')}` : 'is not an object'
}

const HeaderName = z.string().regex(/^(authorization|x-[a-z0-9-]{1,60})$/i)
const HeaderValue = z.string().regex(/^[\x20-\x7e]{0,1024}$/)
const Headers = z.record(HeaderName, HeaderValue).refine((headers) => Object.keys(headers).length <= 8)

/** Parses headers from a JSON object with `Authorization` and `X-…`; undefined if they are invalid. */
export const parseWebhookHeaders = (text: string): Record<string, string> | undefined =>
  Headers.safeParse(parseJson(text)).data
