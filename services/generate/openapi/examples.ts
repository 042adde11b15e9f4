import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { dateTimeFields } from '#proto/http/date-times.ts'
import { root } from '../../testing/source-file.ts'

/** The examples of an operation: a request body, the response to it, and values of parameters. */
const OperationExample = z.object({
  request: z.unknown().optional(),
  response: z.unknown().optional(),
  /** Values of path and query parameters by name. */
  parameters: z.record(z.string(), z.union([z.string(), z.array(z.string())])).optional(),
})
export type OperationExample = z.infer<typeof OperationExample>

/** The file with the examples of all operations, one per line. The path is relative to the root of the repository. */
export const examplesPath = 'services/generate/openapi/examples.jsonl'

/** Reads the examples by method and path. The tests of the route table record them. */
export const readExamples = async (): Promise<ReadonlyMap<string, OperationExample>> => {
  const lines = (await readFile(join(root, examplesPath), 'utf8')).split('\n').filter((line) => line !== '')
  return new Map(
    lines.flatMap((line) => Object.entries(z.record(z.string(), OperationExample).parse(JSON.parse(line)))),
  )
}

/** Returns examples in the format of `examples.jsonl`. */
export const formatExamples = (examples: ReadonlyMap<string, OperationExample>): string =>
  [...examples]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, example]) => `${JSON.stringify({ [name]: example })}\n`)
    .join('')

/** Returns the values of the parameters in a URL; undefined if there are none. */
export const readParameters = (path: string, url: string): OperationExample['parameters'] => {
  const [given = '', query = ''] = url.split('?')
  const segments = given.split('/')
  const entries = path.split('/').flatMap((segment, index) => {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1]
    return name === undefined ? [] : [[name, decodeURIComponent(segments[index] ?? '')] as const]
  })
  const parameters = Object.fromEntries([...entries, ...new URLSearchParams(query)])
  return Object.keys(parameters).length === 0 ? undefined : parameters
}

const maxText = 100
const maxListed = 1
const maxEntries = 2
const exampleTime = '2026-06-01T12:00:00.000Z'
const exampleMs = Date.parse(exampleTime)
const exampleTookMs = 4
/** Epoch milliseconds from 2001 to 2096. */
const isEpochMs = (value: number): boolean => value > 1e12 && value < 4e12
/** Keys of objects that are named by values, not by a schema, such as addresses. */
const valueKey = /^\d+$|[.:/ ]/

/**
 * Returns a recorded value as an example: short, and the same in every run. Lists have one item. Times are one fixed
 * time; random ids and tokens become a fixed text of the same length.
 */
export const toExample = (value: unknown, key = ''): unknown => {
  if (Array.isArray(value)) return value.slice(0, maxListed).map((each) => toExample(each, key))
  if (typeof value === 'object' && value !== null) {
    if ('openapi' in value) return { ...value, paths: {}, components: {}, tags: [] }
    const entries = Object.entries(value)
    const isMap = entries.every(([name]) => valueKey.test(name))
    const kept = isMap ? entries.slice(0, maxEntries) : entries
    return Object.fromEntries(kept.map(([name, each]) => [name, toExample(each, name)]))
  }
  if (typeof value === 'number') return toExampleNumber(value, key)
  return typeof value === 'string' ? toExampleText(value, key) : value
}

/** Examples of responses above this length contain no nested lists, so that the document stays small. */
const maxExampleLength = 300

/** Returns the recorded response as the document contains it: without deprecated times, and short. */
export const shortenResponse = (response: unknown): unknown => {
  const current = withoutDeprecatedTimes(response)
  return JSON.stringify(current).length > maxExampleLength ? withoutNestedLists(current, false) : current
}

const withoutDeprecatedTimes = (response: unknown): unknown =>
  JSON.parse(JSON.stringify(response ?? null), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    const isReplaced = (name: string) => dateTimeFields[name] !== undefined && dateTimeFields[name] in value
    return Object.fromEntries(Object.entries(value).filter(([name]) => !isReplaced(name)))
  })

const withoutNestedLists = (value: unknown, isNested: boolean): unknown => {
  if (Array.isArray(value)) return isNested ? [] : value.map((each) => withoutNestedLists(each, true))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, withoutNestedLists(each, isNested || key !== 'data')]),
  )
}

const toExampleNumber = (value: number, key: string): number => {
  if (isEpochMs(value)) return exampleMs
  return key === 'tookMs' ? exampleTookMs : value
}

const toExampleText = (text: string, key: string): string => {
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return exampleTime
  const fixed = text
    .replaceAll(/127\.0\.0\.1(:|%3A)\d+/g, 'localhost$13000')
    .replaceAll(/\b[A-Z]{4}-[A-Z]{4}\b/g, 'BCDF-GHJK')
    .replaceAll(/(?<=-)[0-9a-f]{8,12}$/g, (hex) => '0'.repeat(hex.length))
  if (fixed.length > maxText && /\s/.test(fixed)) return `${fixed.slice(0, maxText - 1)}…`
  if (/secret$/i.test(key)) return text.replace(/(?<=_|^)[\w+/=-]+$/, (secret) => 'a'.repeat(secret.length))
  const isId = /(^|[a-z])(id|key|token|subject|code|secret|url|by)$/i.test(key)
  return fixed.replaceAll(/[\w+-]{16,}/g, (token) => {
    const isRandom = /[A-Za-z]/.test(token) && (/\d/.test(token) || (isId && /[A-Z]/.test(token)))
    // Other random texts may begin like a prefix.
    const prefix = /^(svc|whs|cwt)_/.exec(token)?.[0] ?? ''
    return isRandom ? prefix + 'a'.repeat(token.length - prefix.length) : token
  })
}
