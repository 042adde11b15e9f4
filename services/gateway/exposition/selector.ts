import { RE2JS } from 're2js'
import { ServiceError } from '#proto/errors.ts'

/** Labels of a series but its name; one that is absent counts as empty. */
export type Labels = Readonly<Record<string, string>>

/** Which series a caller wants. */
export interface Selector {
  takesName(name: string): boolean
  takesLabels(labels: Labels): boolean
}

type Test = (value: string) => boolean
interface Matcher {
  label: string
  test: Test
}

const nameLabel = '__name__'
const word = '[a-zA-Z_][a-zA-Z0-9_]*'
const quoted = '"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\'|`[^`]*`'
const metricPattern = /^\s*(?<metric>[a-zA-Z_:][a-zA-Z0-9_:]*)?\s*(?:\{(?<matchers>.*)\}\s*)?$/s
const matcherSource = `\\s*(?<label>${word})\\s*(?<operator>=~|!~|!=|=)\\s*(?<text>${quoted})\\s*(?:,|$)`

/** Reads a selector such as `clickhouse_query{host=~"0|1"}`, in the words of Prometheus. */
export const parseSelector = (text: string): Selector => {
  const { metric, matchers: listed = '' } = metricPattern.exec(text)?.groups ?? refuse(text)
  const matchers = [
    ...(metric === undefined ? [] : [{ label: nameLabel, test: testOf('=', metric) }]),
    ...parseMatchers(text, listed),
  ]
  // As Prometheus demands: a selector that takes all series was hardly meant.
  if (matchers.every(({ test }) => test(''))) refuse(text)
  const ofName = matchers.filter(({ label }) => label === nameLabel)
  const ofLabels = matchers.filter(({ label }) => label !== nameLabel)
  return {
    takesName: (name) => ofName.every(({ test }) => test(name)),
    takesLabels: (labels) => ofLabels.every(({ label, test }) => test(labels[label] ?? '')),
  }
}

const parseMatchers = (selector: string, listed: string): Matcher[] => {
  const found: Matcher[] = []
  const pattern = new RegExp(matcherSource, 'y')
  const length = listed.trimEnd().length
  while (pattern.lastIndex < length) {
    const { label = '', operator = '', text = '' } = pattern.exec(listed)?.groups ?? refuse(selector)
    found.push({ label, test: testOf(operator, unquote(selector, text), selector) })
  }
  return found
}

const testOf = (operator: string, text: string, selector = text): Test => {
  if (operator === '=') return (value) => value === text
  if (operator === '!=') return (value) => value !== text
  const pattern = compile(text) ?? refuse(selector)
  return operator === '=~' ? (value) => pattern.testExact(value) : (value) => !pattern.testExact(value)
}

/** RE2 as in Prometheus, where a dot matches a line feed too; matching takes linear time for any pattern. */
const compile = (text: string): RE2JS | undefined => {
  try {
    return RE2JS.compile(text, RE2JS.DOTALL)
  } catch {
    return undefined
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" }

const unquote = (selector: string, text: string): string => {
  const inside = text.slice(1, -1)
  if (text.startsWith('`')) return inside
  return inside.replaceAll(/\\(.)/gs, (_all, letter: string) => escapes[letter] ?? refuse(selector))
}

const refuse = (selector: string): never => {
  const sentence = `match[] must select series as Prometheus does, such as clickhouse_query{host="0"}; this does not: ${selector}`
  throw new ServiceError('invalid', sentence, { details: { parameter: 'match[]' } })
}
