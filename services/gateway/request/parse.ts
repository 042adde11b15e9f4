import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { sentenceOf } from '#shared/text/sentence-of.ts'

/** One thing wrong with a request: the parameter or body field, and a sentence that goes on from its name. */
interface Problem {
  parameter: string
  message: string
}

/** More than anybody mends at once; a body holds so many values that to name each would make a far longer answer of it. */
const maxProblems = 20
const maxKeyLength = 64

/** What a caller gave, checked; throws `invalid` naming what is wrong with it. */
export const parse = <S extends z.ZodType>(schema: S, given: unknown): z.output<S> => {
  const result = schema.safeParse(given, { error: sentenceOf })
  if (result.success) return result.data
  const issues = worthSaying(result.error.issues)
  const problems = issues.slice(0, maxProblems).flatMap((issue) => problemsOf(issue, schema))
  const told = problems.slice(0, maxProblems)
  const isAll = issues.length <= maxProblems && problems.length <= maxProblems
  const sentences = told.map(({ parameter, message }) => `${parameter} ${message}`)
  throw new ServiceError('invalid', [...sentences, ...(isAll ? [] : ['and more is wrong'])].join('; '), {
    details: { parameter: told[0]?.parameter, problems: told },
  })
}

/** What is of the wrong kind has no size either, and what was said once of a value is not said again. */
const worthSaying = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] => {
  const said = new Set<string>()
  return issues.filter(({ path, code, message }) => {
    const name = nameOf(path)
    const sentence = `${name} ${message}`
    if (said.has(name) || said.has(sentence)) return false
    said.add(code === 'invalid_type' ? name : sentence)
    return true
  })
}

const problemsOf = (issue: z.core.$ZodIssue, schema: z.ZodType): Problem[] => {
  if (issue.code !== 'unrecognized_keys') {
    return [{ parameter: nameOf(issue.path) || 'the body', message: beginning(issue.message) }]
  }
  const known = issue.path.length === 0 ? namesOf(schema) : undefined
  const message = known === undefined ? 'is not known here' : `is not known here; known are ${known}`
  return issue.keys.slice(0, maxProblems + 1).map((key) => ({ parameter: nameOf([...issue.path, key]), message }))
}

/** A key that a caller chose may be as long as a body. */
const nameOf = (path: readonly PropertyKey[]): string => path.map((key) => String(key).slice(0, maxKeyLength)).join('.')

/** The names that a schema knows, where it is an object and not one of several. */
const namesOf = (schema: z.ZodType): string | undefined =>
  'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
    ? Object.keys(schema.shape).join(', ') || 'none'
    : undefined

/** What zod says by itself, as it goes on from a name. */
const beginning = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)

/** More parameters than any route knows, however often its filter is repeated. */
const maxParameters = 100

/** Parameters by name; a name given more than once has all its values. */
export type QueryValues = Record<string, string | string[]>

/** The parameters of a URL. Unlike `URLSearchParams` it refuses bytes that are no UTF-8 instead of replacing them. */
export const parseQueryString = (url: string): QueryValues => {
  const start = url.indexOf('?')
  return start === -1 ? {} : parseForm(url.slice(start + 1))
}

/** The fields of a form, which are written as the parameters of a URL are. */
export const parseForm = (text: string): QueryValues => {
  const values: QueryValues = {}
  const pairs = text.split('&', maxParameters + 1)
  if (pairs.length > maxParameters) throw new ServiceError('invalid', `more than ${maxParameters} parameters`)
  for (const pair of pairs) if (pair !== '') add(values, pair)
  return values
}

const add = (values: QueryValues, pair: string): void => {
  const equals = pair.indexOf('=')
  const name = decode(equals === -1 ? pair : pair.slice(0, equals))
  const value = equals === -1 ? '' : decode(pair.slice(equals + 1))
  const known = Object.hasOwn(values, name) ? values[name] : undefined
  const next = known === undefined ? value : [...(typeof known === 'string' ? [known] : known), value]
  if (name !== '__proto__') values[name] = next
  // A plain assignment would change the record itself.
  else Object.defineProperty(values, name, { value: next, enumerable: true, configurable: true, writable: true })
}

const decode = (text: string): string => {
  if (!text.includes('%') && !text.includes('+')) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ServiceError('invalid', 'the parameters are not percent-encoded UTF-8')
  }
}
