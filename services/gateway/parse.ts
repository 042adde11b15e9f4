import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'

/** One thing wrong with a request: the parameter or body field, and a sentence that goes on from its name. */
interface Problem {
  parameter: string
  message: string
}

/** What a caller gave, checked; throws `invalid` naming every parameter that is wrong. */
export const parse = <S extends z.ZodType>(schema: S, given: unknown): z.output<S> => {
  const result = schema.safeParse(given)
  if (result.success) return result.data
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, schema))
  throw new ServiceError('invalid', problems.map(({ parameter, message }) => `${parameter} ${message}`).join('; '), {
    details: { parameter: problems[0]?.parameter, problems },
  })
}

const problemsOf = (issue: z.core.$ZodIssue, schema: z.ZodType): Problem[] => {
  if (issue.code !== 'unrecognized_keys') {
    return [{ parameter: issue.path.join('.') || 'the body', message: sentenceOf(issue.message) }]
  }
  const known = namesOf(schema)
  return issue.keys.map((key) => ({ parameter: key.slice(0, 64), message: `is not known here; known are ${known}` }))
}

const namesOf = (schema: z.ZodType): string =>
  'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
    ? Object.keys(schema.shape).join(', ')
    : 'none'

/** Most schemas bring a sentence of their own; this makes one of what the others say. */
const sentenceOf = (message: string): string => {
  const { expected, received } =
    /^Invalid input: expected (?<expected>\w+), received (?<received>\w+)$/.exec(message)?.groups ?? {}
  if (expected === undefined) return message.charAt(0).toLowerCase() + message.slice(1)
  if (received === 'undefined') return 'is required'
  return `must be ${expected === 'int' ? 'a whole number' : `of type ${expected}`}`
}
