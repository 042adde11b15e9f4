import { truncateText, truncateAndEscape, formatQuantity } from '../../messages/text.ts'
import type { Message } from '../../messages/message.ts'
import { ServiceError } from '#proto/errors.ts'
import type { TargetTemplates } from '#proto/webhook-targets.ts'
import type { WebhookTarget } from '../../policy.ts'

/** Rendered templates; fields without a template are absent. */
export interface RenderedTemplates {
  title?: string | undefined
  body?: string | undefined
}

/** Maximum lengths in characters: the lowest limits of all services. */
const maxTitle = 250
const maxBody = 4_000

/** Renders the templates of the operator. Template text is used as it is, and inserted values are escaped. */
export const renderTemplates =
  ({ templates }: Pick<WebhookTarget, 'templates'>, message: Message) =>
  (escape: (text: string) => string): RenderedTemplates => {
    const fill = (template: string | undefined, maxLength: number) =>
      template === undefined ? undefined : fillTemplate(template, collectValues(message), { escape, maxLength })
    return { title: fill(templates?.title, maxTitle), body: fill(templates?.body, maxBody) }
  }

interface FillOptions {
  escape(text: string): string
  maxLength: number
}

/** Replaces `{{name}}` with its value. Unknown placeholders remain unchanged, so that typos are visible. */
export const fillTemplate = (
  template: string,
  values: Readonly<Record<string, string>>,
  { escape, maxLength }: FillOptions,
): string => {
  let filled = ''
  for (const part of template.split(placeholderPattern)) {
    const room = maxLength - filled.length
    const name = /^\{\{\s*([\w.-]+)\s*\}\}$/.exec(part)?.[1]
    const value = name === undefined ? undefined : findValue(values, name)
    filled += value === undefined ? truncateText(part, room) : truncateAndEscape(value, room, escape)
  }
  return filled
}

const placeholderPattern = /(\{\{\s*[\w.-]+\s*\}\})/

/** Returns the value of a placeholder; undefined if unknown. Missing metadata is empty text, because it is optional. */
const findValue = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : name.startsWith('meta.') ? '' : undefined

/** Throws `invalid` for a template with an unknown placeholder. */
export const requireKnownPlaceholders = (templates: TargetTemplates): void => {
  for (const [field, template] of Object.entries(templates)) {
    const unknown = listPlaceholders(template).find(
      (name) => !name.startsWith('meta.') && !knownPlaceholders.some((each) => each === name),
    )
    if (unknown === undefined) continue
    const parameter = `templates.${field}`
    const sentence = `${parameter} has an unknown placeholder; allowed: ${knownPlaceholders.join(', ')} and meta.<key>`
    throw new ServiceError('invalid', sentence, { details: { parameter } })
  }
}

const listPlaceholders = (template: string): string[] =>
  [...template.matchAll(/\{\{\s*([\w.-]+)\s*\}\}/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))

/** Built-in placeholders. Templates can also use `meta.<key>` for the metadata that the operator configured. */
const knownPlaceholders = [
  'event',
  'severity',
  'title',
  'label',
  'value',
  'threshold',
  'host',
  'hostId',
  'checkId',
  'reason',
  'timestamp',
  'url',
  'instance',
] as const

const collectValues = ({ notification, at, host, url, instance, metadata }: Message): Record<string, string> => {
  const { severity, title, ruleId, value, threshold, unit, kind, reason, source } = notification
  const values: Record<(typeof knownPlaceholders)[number], string> = {
    event: kind,
    severity,
    title,
    label: value === null ? '' : formatQuantity(value, unit),
    value: value === null ? '' : String(value),
    threshold: threshold === null ? '' : formatQuantity(threshold, unit),
    host: host?.name ?? source ?? '',
    hostId: String(host?.id ?? ''),
    checkId: ruleId,
    reason,
    timestamp: at,
    url: url ?? '',
    instance: instance ?? '',
  }
  const pairs = Object.entries(metadata).map(([key, text]) => [`meta.${key}`, text])
  return { ...values, ...Object.fromEntries(pairs) }
}
