import { RE2JS } from 're2js'
import { ServiceError } from '#proto/errors.ts'

/** Labels of a series without its name. An absent label counts as empty. */
export type Labels = Readonly<Record<string, string>>

/** A Prometheus series selector. */
export interface SeriesSelector {
  takesName(name: string): boolean
  takesLabels(labels: Labels): boolean
}

type ValueTest = (value: string) => boolean
interface Matcher {
  label: string
  test: ValueTest
}

const nameLabel = '__name__'
const word = '[a-zA-Z_][a-zA-Z0-9_]*'
const quoted = '"(?:[^"\\\\\\n]|\\\\.)*"|\'(?:[^\'\\\\\\n]|\\\\.)*\'|`[^`]*`'
const metricPattern = /^\s*(?<metric>[a-zA-Z_:][a-zA-Z0-9_:]*)?\s*(?:\{(?<matchers>.*)\}\s*)?$/s
const matcherSource = `\\s*(?<label>${word})\\s*(?<operator>=~|!~|!=|=)\\s*(?<text>${quoted})\\s*(?:,|$)`

/** Parses a Prometheus series selector such as `clickhouse_query{host=~"0|1"}`; throws `invalid`. */
export const parseSelector = (text: string): SeriesSelector => {
  const { metric, matchers: listed = '' } = metricPattern.exec(text)?.groups ?? rejectSelector(text)
  const matchers = [
    ...(metric === undefined ? [] : [{ label: nameLabel, test: testOf('=', metric) }]),
    ...parseMatchers(text, listed),
  ]
  // Prometheus also rejects selectors in which every matcher matches an absent label: they would select all series.
  if (matchers.every(({ test }) => test(''))) rejectSelector(text)
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
    const { label = '', operator = '', text = '' } = pattern.exec(listed)?.groups ?? rejectSelector(selector)
    found.push({ label, test: testOf(operator, unquote(selector, text), selector) })
  }
  return found
}

const testOf = (operator: string, text: string, selector = text): ValueTest => {
  if (operator === '=') return (value) => value === text
  if (operator === '!=') return (value) => value !== text
  const pattern = compile(text) ?? rejectSelector(selector)
  return operator === '=~' ? (value) => pattern.testExact(value) : (value) => !pattern.testExact(value)
}

/** Compiles a pattern with RE2, as Prometheus does: a dot also matches line feeds, and matching takes linear time. */
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
  return inside.replaceAll(/\\(.)/gs, (_all, letter: string) => escapes[letter] ?? rejectSelector(selector))
}

const rejectSelector = (selector: string): never => {
  const sentence = `match[] must be a Prometheus series selector such as clickhouse_query{host="0"}; got "${selector}"`
  throw new ServiceError('invalid', sentence, { details: { parameter: 'match[]' } })
}
