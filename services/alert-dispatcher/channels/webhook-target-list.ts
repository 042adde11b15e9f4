import { z } from 'zod'
import { targetFields } from '#proto/webhook-targets.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import type { WebhookTarget } from '../policy.ts'

/** The name of a variable, never what it holds. */
export const VariableName = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]{0,127}$/, 'must be the name of a variable, such as TEAM_WEBHOOK')

const { name, enabled, format, minSeverity, templates } = targetFields

/** A webhook as files and variables name it: its address stands in a variable of its own. */
export const FileWebhookTarget = z.strictObject({
  name,
  urlEnv: VariableName,
  headersEnv: VariableName.optional(),
  enabled,
  format,
  minSeverity,
  templates,
})

/** As with every floor other words than the two severities are ignored: a slip must not keep alerts away. */
const Entry = FileWebhookTarget.extend({ minSeverity: FileWebhookTarget.shape.minSeverity.catch(null) })

/** Further webhooks that one place has at most. */
export const maxTargets = 32

/** Targets as a variable lists them, and what of it means nothing; without quoting it, for an address may stand there by mistake. */
export const readTargetList = (text: string | undefined): { targets: WebhookTarget[]; problems: string[] } => {
  if (text === undefined || text.trim() === '') return { targets: [], problems: [] }
  const entries = z.array(z.unknown()).safeParse(parseJson(text))
  if (!entries.success) return { targets: [], problems: ['must be a JSON array'] }
  const targets = new Map<string, WebhookTarget>()
  const problems: string[] = []
  for (const [index, entry] of entries.data.entries()) {
    const skip = (reason: string) => problems.push(`entry ${index + 1} ${reason}`)
    const { data: target, error } = Entry.safeParse(entry)
    if (!target) skip(`cannot be meant: ${wordsOf(error)}`)
    else if (targets.has(target.name)) skip('has the name of an entry before it')
    else if (targets.size >= maxTargets) skip(`comes after ${maxTargets} others`)
    else targets.set(target.name, target)
  }
  return { targets: [...targets.values()], problems }
}

const wordsOf = ({ issues: [first] }: z.ZodError): string => {
  if (first?.code === 'unrecognized_keys') return 'it has a field that targets do not have'
  return first?.path.length ? `its ${first.path.join('.')} is wrong` : 'it is no object'
}

const HeaderName = z.string().regex(/^(authorization|x-[a-z0-9-]{1,60})$/i)
const HeaderValue = z.string().regex(/^[\x20-\x7e]{0,1024}$/)
const Headers = z.record(HeaderName, HeaderValue).refine((headers) => Object.keys(headers).length <= 8)

/** Headers as a variable holds them, a JSON object of `Authorization` and `X-…`; undefined when they cannot be meant. */
export const readHeaders = (text: string): Record<string, string> | undefined => Headers.safeParse(parseJson(text)).data
