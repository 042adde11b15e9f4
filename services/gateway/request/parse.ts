import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { sentenceOf } from '#shared/sentence-of.ts'

/** One thing wrong with a request: the parameter or body field, and a sentence that goes on from its name. */
interface Problem {
  parameter: string
  message: string
}

/** What a caller gave, checked; throws `invalid` naming every parameter that is wrong. */
export const parse = <S extends z.ZodType>(schema: S, given: unknown): z.output<S> => {
  const result = schema.safeParse(given, { error: sentenceOf })
  if (result.success) return result.data
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, schema))
  throw new ServiceError('invalid', problems.map(({ parameter, message }) => `${parameter} ${message}`).join('; '), {
    details: { parameter: problems[0]?.parameter, problems },
  })
}

const problemsOf = (issue: z.core.$ZodIssue, schema: z.ZodType): Problem[] => {
  if (issue.code !== 'unrecognized_keys') {
    return [{ parameter: issue.path.join('.') || 'the body', message: beginning(issue.message) }]
  }
  const known = issue.path.length === 0 ? namesOf(schema) : undefined
  const message = known === undefined ? 'is not known here' : `is not known here; known are ${known}`
  return issue.keys.map((key) => ({ parameter: [...issue.path, key.slice(0, 64)].join('.'), message }))
}

/** The names that a schema knows, where it is an object and not one of several. */
const namesOf = (schema: z.ZodType): string | undefined =>
  'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
    ? Object.keys(schema.shape).join(', ') || 'none'
    : undefined

/** What zod says by itself, as it goes on from a name. */
const beginning = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)
