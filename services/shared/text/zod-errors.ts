import type { z } from 'zod'

/**
 * Returns the message of a Zod issue without the name of the field, such as `is required`; undefined keeps the default
 * message. Messages never contain the value, which may be secret.
 */
export const describeIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${typeNames[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`
    case 'too_small':
      return issue.minimum === 1 && issue.origin in unitNames
        ? 'must not be empty'
        : formatBound('at least', issue.minimum, issue.origin)
    case 'too_big':
      return formatBound('at most', issue.maximum, issue.origin)
    default:
      return undefined
  }
}

/** Formats all issues of a Zod error, each with its path. */
export const formatZodError = (error: z.ZodError): string =>
  error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim()).join('; ')

/** Names of Zod types in error messages. */
const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

const formatBound = (atLeast: string, limit: number | bigint, origin: string): string => {
  const counted = unitNames[origin]
  return counted === undefined ? `must be ${atLeast} ${limit}` : `must have ${atLeast} ${limit} ${counted}`
}

const unitNames: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items' }
