import { z } from 'zod'
import { describeIssue } from '#shared/text/zod-errors.ts'

/** A parsed YAML file: its values by top-level key. */
export type YamlDocument = Readonly<Record<string, unknown>>

const Mapping = z.record(z.string(), z.unknown())
const maxEntries = 200
const maxKeyLength = 64

/** Returns the valid entries of a list; invalid ones and duplicate ids are reported and skipped. */
export const parseList = <S extends z.ZodType>(
  document: YamlDocument,
  { key, schema, idOf }: { key: string; schema: S; idOf(entry: z.output<S>): string },
  report: ReportProblem,
): z.output<S>[] => {
  const input = document[key] ?? []
  if (!Array.isArray(input)) {
    report(key, 'must be a list')
    return []
  }
  const entries = new Map<string, z.output<S>>()
  for (const [index, item] of input.entries()) {
    const skip = (reason: string) => report(`${key}[${index}]`, reason)
    const parsed = schema.safeParse(item, { error: describeIssue })
    if (!parsed.success) skip(describeIssues(parsed.error))
    else if (entries.has(idOf(parsed.data))) skip('has the same id as an earlier entry')
    else if (entries.size >= maxEntries) skip(`exceeds the maximum of ${maxEntries} entries`)
    else entries.set(idOf(parsed.data), parsed.data)
  }
  return [...entries.values()]
}

/** Returns the valid entries of a mapping, by name; invalid ones are reported and skipped. */
export const parseMapping = <S extends z.ZodType>(
  document: YamlDocument,
  { key, name, schema }: { key: string; name: z.ZodType<string>; schema: S },
  report: ReportProblem,
): Record<string, z.output<S>> => {
  const input = Mapping.safeParse(document[key] ?? {})
  if (!input.success) {
    report(key, 'must be a mapping')
    return {}
  }
  const entries: Record<string, z.output<S>> = {}
  for (const [index, [called, item]] of Object.entries(input.data).entries()) {
    // The name itself may be invalid, so the report uses its position.
    const named = name.safeParse(called)
    const parsed = schema.safeParse(item, { error: describeIssue })
    if (!named.success) report(`${key}, entry ${index + 1}`, `has an invalid name: ${describeIssues(named.error)}`)
    else if (!parsed.success) report(`${key}.${called}`, describeIssues(parsed.error))
    else entries[called] = parsed.data
  }
  return entries
}

/** Returns the valid fields of a mapping; invalid ones are reported and skipped. */
export const parseMappingFields = <S extends z.ZodType>(
  document: YamlDocument,
  { key, schema }: { key: string; schema: S },
  report: ReportProblem,
): z.output<S> | undefined => {
  const input = Mapping.safeParse(document[key] ?? {})
  const parsed = schema.safeParse(document[key] ?? {}, { error: describeIssue })
  if (parsed.success) return parsed.data
  report(key, describeIssues(parsed.error))
  const bad = new Set(parsed.error.issues.flatMap(listIssueFields))
  const good = Object.entries(input.data ?? {}).filter(([field]) => !bad.has(field))
  return schema.safeParse(Object.fromEntries(good)).data
}

/** Reports unknown top-level keys of a file. */
export const reportUnknownKeys = (document: YamlDocument, known: readonly string[], report: ReportProblem): void => {
  for (const key of Object.keys(document).filter((key) => !known.includes(key))) {
    report(key.slice(0, maxKeyLength), `is unknown; allowed: ${known.join(', ')}`)
  }
}

/** An invalid entry in a file: its position and the reason, never its text. */
export interface FileProblem {
  file: string
  /** A path such as `routes[2]`; empty for the whole file. */
  entry: string
  reason: string
}

/** Reports an entry that is skipped, and the reason. */
export type ReportProblem = (entry: string, reason: string) => void

/** Describes the validation issues: states the allowed values, never an invalid value, which may be a secret. */
export const describeIssues = (error: z.ZodError): string => {
  const reasons = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => `${[...issue.path, key.slice(0, maxKeyLength)].join('.')} is unknown`)
    const sentence = issue.message.charAt(0).toLowerCase() + issue.message.slice(1)
    return issue.path.length === 0 ? sentence : `${issue.path.join('.')} ${sentence}`
  })
  return [...new Set(reasons)].slice(0, maxReasons).join('; ')
}

/** Returns the fields that an issue concerns. */
const listIssueFields = (issue: z.core.$ZodIssue): string[] => {
  const [field] = issue.path
  if (field !== undefined) return [String(field)]
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => key.slice(0, maxKeyLength)) : []
}

const maxReasons = 5
