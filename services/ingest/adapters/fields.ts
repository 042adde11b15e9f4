import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { sentenceOf } from '#shared/text/sentence-of.ts'

/** Text where a sender may as well write a number. */
export const words = z.union([z.string(), z.number(), z.boolean()], 'must be text').transform(String)
/** Text that may be missing or null. */
export const maybeWords = words.nullish().transform((text) => (text === undefined || text === null ? null : text))
/** Labels, tags and annotations: what is no text is written as JSON. */
export const labelled = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((labels) => textsOf(labels ?? {}))
/** An instant as senders write it, ISO 8601 or epoch seconds down to nanoseconds; null for one that is none. */
export const instant = z.unknown().optional().transform(instantOf)

/** Before these, a number counts seconds, milliseconds and microseconds: that is up to 5138 in each. */
const firstMilliseconds = 1e11
const firstMicroseconds = 1e14
const firstNanoseconds = 1e17

const inMs = (count: number): number => {
  if (count < firstMilliseconds) return count * 1_000
  if (count < firstMicroseconds) return count
  return count < firstNanoseconds ? count / 1_000 : count / 1_000_000
}

/** Epoch milliseconds of whatever stands for an instant; null of none, and of the zero time of Go that stands for never. */
export function instantOf(given: unknown): number | null {
  if (typeof given === 'number' || (typeof given === 'string' && /^\d{9,19}(\.\d+)?$/.test(given)))
    return plausible(Math.round(inMs(Number(given))))
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
