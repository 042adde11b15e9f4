import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { describeIssue } from '#shared/text/zod-errors.ts'

/** A problem of a request: the parameter or body field, and a message that follows its name. */
interface Problem {
  parameter: string
  message: string
}

/** Maximum number of problems in a response, because a body can have thousands of invalid values. */
const maxProblems = 20
const maxKeyLength = 64

/** Returns the validated value; throws `invalid` with every problem, up to `maxProblems`. */
export const parseRequestInput = <S extends z.ZodType>(schema: S, given: unknown): z.output<S> => {
  const result = schema.safeParse(given, { error: describeIssue })
  if (result.success) return result.data
  const issues = relevantIssues(result.error.issues)
  const problems = issues.slice(0, maxProblems).flatMap((issue) => problemsOf(issue, schema))
  const listed = problems.slice(0, maxProblems)
  const isAll = issues.length <= maxProblems && problems.length <= maxProblems
  const sentences = listed.map(({ parameter, message }) => `${parameter} ${message}`)
  throw new ServiceError('invalid', [...sentences, ...(isAll ? [] : ['further problems omitted'])].join('; '), {
    details: { parameter: listed[0]?.parameter, problems: listed },
  })
}

/** Drops repeated messages, and further issues of a value that already has the wrong type. */
const relevantIssues = (issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] => {
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
    return [{ parameter: nameOf(issue.path) || 'the body', message: lowercaseFirstLetter(issue.message) }]
  }
  const known = issue.path.length === 0 ? namesOf(schema) : undefined
  const message = known === undefined ? 'is unknown' : `is unknown; allowed: ${known}`
  return issue.keys.slice(0, maxProblems + 1).map((key) => ({ parameter: nameOf([...issue.path, key]), message }))
}

/** Returns the path as dotted names. Keys are cut, because a caller can send a key as long as a body. */
const nameOf = (path: readonly PropertyKey[]): string => path.map((key) => String(key).slice(0, maxKeyLength)).join('.')

/** Returns the comma-separated field names of an object schema, or `none`; undefined for other schemas. */
const namesOf = (schema: z.ZodType): string | undefined =>
  'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
    ? Object.keys(schema.shape).join(', ') || 'none'
    : undefined

/** Lowercases the first letter of a message of zod, so that it can follow a name. */
const lowercaseFirstLetter = (message: string): string => message.charAt(0).toLowerCase() + message.slice(1)

/** Maximum number of parameters, more than any route accepts with repeated filters. */
const maxParameters = 100

/** Parameters by name; a repeated name has an array of values. */
export type QueryValues = Record<string, string | string[]>

/** Parses the query of a URL. Unlike `URLSearchParams`, it rejects invalid UTF-8 instead of replacing it. */
export const parseQueryString = (url: string): QueryValues => {
  const start = url.indexOf('?')
  return start === -1 ? {} : parseForm(url.slice(start + 1))
}

/** Parses a form body, which has the syntax of a query string. */
export const parseForm = (text: string): QueryValues => {
  const values: QueryValues = {}
  const pairs = text.split('&', maxParameters + 1)
  if (pairs.length > maxParameters)
    throw new ServiceError('invalid', `too many parameters: the maximum is ${maxParameters}`)
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
  // An assignment to `__proto__` would set the prototype instead of a property.
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
