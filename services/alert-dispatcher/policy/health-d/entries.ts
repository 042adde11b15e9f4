import { z } from 'zod'
import { sentenceOf } from '#shared/text/sentence-of.ts'

/** What a file may have at its top, besides which it has nothing. */
export type Document = Readonly<Record<string, unknown>>

const Table = z.record(z.string(), z.unknown())
const mostEntries = 200
const longestKey = 64

/** The good entries of a list; bad ones and those whose id came before are skipped one by one. */
export const listOf = <S extends z.ZodType>(
  document: Document,
  { key, schema, idOf }: { key: string; schema: S; idOf(entry: z.output<S>): string },
  report: Report,
): z.output<S>[] => {
  const given = document[key] ?? []
  if (!Array.isArray(given)) {
    report(key, 'must be a list')
    return []
  }
  const entries = new Map<string, z.output<S>>()
  for (const [index, item] of given.entries()) {
    const skip = (reason: string) => report(`${key}[${index}]`, reason)
    const parsed = schema.safeParse(item, { error: sentenceOf })
    if (!parsed.success) skip(reasonOf(parsed.error))
    else if (entries.has(idOf(parsed.data))) skip('an entry before it has the same id')
    else if (entries.size >= mostEntries) skip(`comes after ${mostEntries} others`)
    else entries.set(idOf(parsed.data), parsed.data)
  }
  return [...entries.values()]
}

/** The good entries of a table, by their names. */
export const tableOf = <S extends z.ZodType>(
  document: Document,
  { key, name, schema }: { key: string; name: z.ZodType<string>; schema: S },
  report: Report,
): Record<string, z.output<S>> => {
  const given = Table.safeParse(document[key] ?? {})
  if (!given.success) {
    report(key, 'must be a table')
    return {}
  }
  const entries: Record<string, z.output<S>> = {}
  for (const [index, [called, item]] of Object.entries(given.data).entries()) {
    // The name itself may be what is wrong, so it is told by its place.
    const named = name.safeParse(called)
    const parsed = schema.safeParse(item, { error: sentenceOf })
    if (!named.success) report(`${key}, entry ${index + 1}`, `its name must be: ${reasonOf(named.error)}`)
    else if (!parsed.success) report(`${key}.${called}`, reasonOf(parsed.error))
    else entries[called] = parsed.data
  }
  return entries
}

/** The good fields of one table, all of which may be absent; bad ones are skipped one by one. */
export const tableFieldsOf = <S extends z.ZodType>(
  document: Document,
  { key, schema }: { key: string; schema: S },
  report: Report,
): z.output<S> | undefined => {
  const given = Table.safeParse(document[key] ?? {})
  const parsed = schema.safeParse(document[key] ?? {}, { error: sentenceOf })
  if (parsed.success) return parsed.data
  report(key, reasonOf(parsed.error))
  const bad = new Set(parsed.error.issues.flatMap(fieldsAt))
  const good = Object.entries(given.data ?? {}).filter(([field]) => !bad.has(field))
  return schema.safeParse(Object.fromEntries(good)).data
}

/** Says which keys at the top of a file are not known. */
export const requireKnown = (document: Document, known: readonly string[], report: Report): void => {
  for (const key of Object.keys(document).filter((key) => !known.includes(key))) {
    report(key.slice(0, longestKey), `is not known here; known are ${known.join(', ')}`)
  }
}

/** Something in a file that means nothing: where it stands and why, never what it says. */
export interface FileProblem {
  file: string
  /** `routes[2]`, or empty for the file as a whole. */
  entry: string
  reason: string
}

/** Takes down what is skipped. */
export type Report = (entry: string, reason: string) => void

/** Why something does not have the shape that it must have: what is allowed, never what was given. */
export const reasonOf = (error: z.ZodError): string => {
  const reasons = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return fieldsAt(issue).map((field) => `${field} is not known here`)
    const sentence = issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
    return issue.path.length === 0 ? sentence : `${issue.path.join('.')} ${sentence}`
  })
  return [...new Set(reasons)].slice(0, mostReasons).join('; ')
}

/** The fields that an issue is about. */
const fieldsAt = (issue: z.core.$ZodIssue): string[] => {
  const [field] = issue.path
  if (field !== undefined) return [String(field)]
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => key.slice(0, longestKey)) : []
}

const mostReasons = 5
