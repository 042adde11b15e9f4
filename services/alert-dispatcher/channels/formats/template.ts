import { cut, cutInMarkup, quantity } from '../../messages/text.ts'
import type { Message } from '../../messages/message.ts'
import { ServiceError } from '#proto/errors.ts'
import type { TargetTemplates } from '#proto/webhook-targets.ts'
import type { WebhookTarget } from '../../policy.ts'

/** What templates say; absent where there is none. */
export interface Written {
  title?: string | undefined
  body?: string | undefined
}

/** What every service takes. */
const maxTitle = 250
const maxBody = 4_000

/** Fills an operator's templates: their own text stays as it is, and what is put into it is no markup. */
export const writeTemplates =
  ({ templates }: Pick<WebhookTarget, 'templates'>, message: Message) =>
  (escape: (text: string) => string): Written => {
    const fill = (template: string | undefined, maxLength: number) =>
      template === undefined ? undefined : fillTemplate(template, valuesOf(message), { escape, maxLength })
    return { title: fill(templates?.title, maxTitle), body: fill(templates?.body, maxBody) }
  }

interface Filling {
  escape(text: string): string
  maxLength: number
}

/** `{{name}}` stands for a value; a name that nothing has stays, so that the slip shows. */
export const fillTemplate = (
  template: string,
  values: Readonly<Record<string, string>>,
  { escape, maxLength }: Filling,
): string => {
  let filled = ''
  for (const part of template.split(place)) {
    const room = maxLength - filled.length
    const name = /^\{\{\s*([\w.-]+)\s*\}\}$/.exec(part)?.[1]
    const value = name === undefined ? undefined : valueOf(values, name)
    filled += value === undefined ? cut(part, room) : cutInMarkup(value, room, escape)
  }
  return filled
}

const place = /(\{\{\s*[\w.-]+\s*\}\})/

/** A pair that is not set is empty: the same template may serve several installations. */
const valueOf = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : name.startsWith('meta.') ? '' : undefined

/** Throws `invalid` for a template with a name that nothing has. */
export const requireTemplates = (templates: TargetTemplates): void => {
  for (const [field, template] of Object.entries(templates)) {
    const unknown = namesIn(template).find((name) => !name.startsWith('meta.') && !known.some((each) => each === name))
    if (unknown === undefined) continue
    const parameter = `templates.${field}`
    const sentence = `${parameter} names what there is not; there are ${known.join(', ')} and meta.<key>`
    throw new ServiceError('invalid', sentence, { details: { parameter } })
  }
}

const namesIn = (template: string): string[] =>
  [...template.matchAll(/\{\{\s*([\w.-]+)\s*\}\}/g)].flatMap(([, name]) => (name === undefined ? [] : [name]))

/** What templates may name besides the operator's own pairs. */
const known = [
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

const valuesOf = ({ notice, at, host, url, instance, metadata }: Message): Record<string, string> => {
  const { severity, title, ruleId, value, threshold, unit, kind, reason, source } = notice
  const values: Record<(typeof known)[number], string> = {
    event: kind,
    severity,
    title,
    label: value === null ? '' : quantity(value, unit),
    value: value === null ? '' : String(value),
    threshold: threshold === null ? '' : quantity(threshold, unit),
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
