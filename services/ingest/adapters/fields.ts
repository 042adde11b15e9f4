import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { sentenceOf } from '#shared/sentence-of.ts'

/** Text where a sender may as well write a number. */
export const words = z.union([z.string(), z.number(), z.boolean()], 'must be text').transform(String)
/** Text that may be missing or null. */
export const maybeWords = words.nullish().transform((text) => (text === undefined || text === null ? null : text))
/** Labels, tags and annotations: what is no text is written as JSON. */
export const labelled = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((labels) => textsOf(labels ?? {}))
/** An instant as senders write it, ISO 8601 or epoch seconds or milliseconds; null for one that is none. */
export const instant = z.unknown().optional().transform(instantOf)

/** Before it, a number counts seconds: that is 1973 in milliseconds and 5138 in seconds. */
const firstMilliseconds = 100_000_000_000

/** Epoch milliseconds of whatever stands for an instant; null of none, and of the zero time of Go that stands for never. */
export function instantOf(given: unknown): number | null {
  if (typeof given === 'number' || (typeof given === 'string' && /^\d{9,16}(\.\d+)?$/.test(given))) {
    const count = Number(given)
    return plausible(Math.round(count < firstMilliseconds ? count * 1000 : count))
  }
  return typeof given === 'string' && /^\d{4}-\d{2}-\d{2}/.test(given) ? plausible(Date.parse(given)) : null
}

const latestMs = 253_402_300_799_999

const plausible = (ms: number): number | null => (Number.isSafeInteger(ms) && ms > 0 && ms <= latestMs ? ms : null)

/** Entries as text; those without a value are left out. */
export const textsOf = (labels: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, textOf(value)]],
    ),
  )

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** The first of the texts that says anything. */
export const firstOf = (...texts: readonly (string | null | undefined)[]): string =>
  texts.find((text) => text !== null && text !== undefined && text.trim() !== '') ?? ''

/** What was sent, checked; throws `invalid` with a sentence that names every field that is wrong and quotes none. */
export const understood = <S extends z.ZodType>(schema: S, given: unknown): z.output<S> => {
  const result = schema.safeParse(given, { error: sentenceOf })
  if (result.success) return result.data
  throw new ServiceError('invalid', sentenceFor(result.error))
}

const mostIssues = 5

const sentenceFor = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, mostIssues)
    .map(
      ({ path, message }) => `${path.join('.') || 'the event'} ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
    )
    .join('; ')
