import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { describeIssue } from '#shared/text/zod-errors.ts'

/** A text that senders may also write as a number or boolean. */
export const textField = z.union([z.string(), z.number(), z.boolean()], 'must be text').transform(String)
/** A text that may be missing or null. */
export const optionalTextField = textField
  .nullish()
  .transform((text) => (text === undefined || text === null ? null : text))
/** Labels, tags and annotations; values that are not text become JSON. */
export const labelsField = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((labels) => stringifyLabels(labels ?? {}))
/** A timestamp in ISO 8601, or since the epoch in s, ms, µs or ns; parsed to epoch ms, or null if invalid. */
export const timestampField = z.unknown().optional().transform(parseInstant)

/** Smallest numbers that count as milliseconds, microseconds and nanoseconds; `1e11` seconds is the year 5138. */
const firstMilliseconds = 1e11
const firstMicroseconds = 1e14
const firstNanoseconds = 1e17

const toMilliseconds = (count: number): number => {
  if (count < firstMilliseconds) return count * 1_000
  if (count < firstMicroseconds) return count
  return count < firstNanoseconds ? count / 1_000 : count / 1_000_000
}

/** Returns epoch milliseconds; null for invalid values and for the zero time of Go, which means never. */
export function parseInstant(value: unknown): number | null {
  if (typeof value === 'number' || (typeof value === 'string' && /^\d{9,19}(\.\d+)?$/.test(value)))
    return nullIfImplausible(Math.round(toMilliseconds(Number(value))))
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) ? nullIfImplausible(Date.parse(value)) : null
}

/** The end of the year 9999. */
const maxEpochMs = 253_402_300_799_999

const nullIfImplausible = (ms: number): number | null =>
  Number.isSafeInteger(ms) && ms > 0 && ms <= maxEpochMs ? ms : null

/** Converts values to text; entries without a value are left out. */
export const stringifyLabels = (labels: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) =>
      value === null || value === undefined ? [] : [[name, toText(value)]],
    ),
  )

const toText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)

/** Returns the first text that is not blank, or an empty one. */
export const firstNonBlank = (...texts: readonly (string | null | undefined)[]): string =>
  texts.find((text) => text !== null && text !== undefined && text.trim() !== '') ?? ''

/** Returns the parsed value. Throws `invalid` with a message that names up to five invalid fields but no values. */
export const parseFields = <S extends z.ZodType>(schema: S, value: unknown): z.output<S> => {
  const result = schema.safeParse(value, { error: describeIssue })
  if (result.success) return result.data
  throw new ServiceError('invalid', joinIssues(result.error))
}

const maxIssues = 5

const joinIssues = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, maxIssues)
    .map(
      ({ path, message }) => `${path.join('.') || 'the event'} ${message.charAt(0).toLowerCase()}${message.slice(1)}`,
    )
    .join('; ')
