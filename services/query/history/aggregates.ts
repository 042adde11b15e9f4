import { splitArguments } from '../definitions/versions.ts'
import { argumentOf } from '../definitions/macros.ts'

/** How the history stores the values of a column of a log. */
export interface Measure {
  /** The column with the sum of the values. */
  sum: string
  /** The column with the highest value. */
  highest?: string
  /** The column with the histogram of the values. */
  histogram?: string
}

/** What the history has of a log whose rows it aggregates. */
export interface AggregatedLog {
  /** Measures by the expression that a definition aggregates. */
  measures: Readonly<Record<string, Measure>>
  /** Lists by the column whose distinct values they contain. */
  lists: Readonly<Record<string, string>>
  /** Columns that are not recorded. */
  unrecorded: RegExp
  /** Columns with one recorded value, so that aggregates cannot distinguish by them. */
  constant: RegExp
}

/** The column with the number of log rows that a row of the history stands for. */
export const weight = 'weight'
/** Replaces the aggregates of columns that are not recorded. */
export const unknownValue = 'NULL'
/** Number of histogram buckets per power of two. A percentile is therefore exact to about four percent. */
export const bucketsPerOctave = 8

const aggregate =
  /\b(count|sum|avg|min|max|any|argMax|argMin|quantile|quantiles|median|uniqExact|uniq|groupUniqArray|groupArray)(OrNull)?(If)?(OrNull)?(?=\()/

/** A share of one unknown sum in another. */
const unknownShare = /(?:100 \* )?NULL\s*\/\s*nullIf\(NULL, 0\)/g

/** Rewrites the aggregates of the rows of a log so that they aggregate rows that stand for many of them. */
export const rewriteAggregates = (sql: string, log: AggregatedLog): string =>
  rewriteCalls(sql, log).replaceAll(unknownShare, unknownValue)

const rewriteCalls = (sql: string, log: AggregatedLog): string => {
  const found = aggregate.exec(sql)
  if (!found) return sql
  const [name, base = '', orNull, condition, orNullAfter] = found
  const before = sql.slice(0, found.index)
  const first = argumentOf(name, sql.slice(found.index + name.length))
  const afterFirst = sql.slice(found.index + name.length + first.length + 2)
  const isParametric = afterFirst.startsWith('(')
  const text = isParametric ? argumentOf(name, afterFirst) : first
  const rest = isParametric ? afterFirst.slice(text.length + 2) : afterFirst
  const call: AggregateCall = {
    text: sql.slice(found.index, sql.length - rest.length),
    base,
    parameter: isParametric ? first : undefined,
    values: splitArguments(text),
    condition: undefined,
    isNullable: orNull !== undefined || orNullAfter !== undefined,
  }
  if (condition !== undefined) call.condition = call.values.pop()
  return `${before}${rewriteCall(call, log)}${rewriteCalls(rest, log)}`
}

interface AggregateCall {
  text: string
  base: string
  parameter: string | undefined
  values: string[]
  condition: string | undefined
  isNullable: boolean
}

const rewriteCall = (call: AggregateCall, log: AggregatedLog): string => {
  const { base, values, condition, text, parameter, isNullable } = call
  const isUnknown = (expression: string) => mentionsUnknown(expression, log)
  if (condition !== undefined && isUnknown(condition)) return unknownValue
  const apply = (name: string, columns: string, parameters = '') =>
    condition === undefined ? `${name}${parameters}(${columns})` : `${name}If${parameters}(${columns}, ${condition})`
  if (base === 'count') return apply('sum', weight)
  const expression = normalizeExpression(values[0] ?? '')
  const list = log.lists[expression]
  if (list !== undefined && ['uniqExact', 'uniq', 'groupUniqArray'].includes(base))
    return apply(`${base}Array`, list, parameter === undefined ? '' : `(${parameter})`)
  const measure = log.measures[expression]
  if (!measure) return values.some(isUnknown) ? unknownValue : text
  const { sum, highest, histogram } = measure
  const suffix = isNullable ? 'OrNull' : ''
  if (base === 'sum') return apply(`sum${suffix}`, sum)
  if (base === 'avg') return `(${apply('sum', sum)} / nullIf(${apply('sum', weight)}, 0))`
  if (base === 'max' && highest !== undefined) return apply(`max${suffix}`, highest)
  if (histogram === undefined) return unknownValue
  if (base === 'max') return fromBucket(apply('maxOrNull', `arrayMax(mapKeys(${histogram}))`))
  if (base !== 'quantile') return unknownValue
  const columns = `mapKeys(${histogram}), mapValues(${histogram})`
  return fromBucket(apply('quantileExactWeightedArrayOrNull', columns, `(${parameter ?? '0.5'})`))
}

/** Returns SQL for the value in the middle of a bucket of a histogram. */
const fromBucket = (bucket: string): string => `(exp2(${bucket} / ${bucketsPerOctave}) - 1)`

const mentionsUnknown = (expression: string, log: AggregatedLog): boolean =>
  log.unrecorded.test(expression) || log.constant.test(expression) || mentionsMeasure(expression, log)

const mentionsMeasure = (expression: string, { measures }: AggregatedLog): boolean =>
  Object.keys(measures).some((name) => new RegExp(String.raw`\b${name.replaceAll(/[^\w ]/g, '.')}`).test(expression))

/** Removes table names and conversions from an expression, so that it can be compared. */
const normalizeExpression = (expression: string): string =>
  expression
    .replaceAll(/\b\w+\.(?=[a-z_]+\b)/g, '')
    .replace(/^to(?:Float64|Int64|UInt64)\((\w+)\)$/, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()

/** Returns whether rewritten SQL still reads a column that the history lacks. */
export const readsUnrecorded = (sql: string, log: AggregatedLog): boolean => {
  const aliases = new Set([...sql.matchAll(/\bAS (\w+)/g)].map(([, name = '']) => name))
  const text = sql.replaceAll(/\bAS \w+/g, '').replaceAll(/'(?:[^'\\]|\\.)*'/g, "''")
  const names = [...Object.keys(log.measures).filter((name) => /^\w+$/.test(name)), ...Object.keys(log.lists)]
  const unrecorded = [...text.matchAll(new RegExp(log.unrecorded, 'g'))].map(([name]) => name)
  // A name of a table stands before a column, never before an alias.
  const isRead = (name: string) =>
    new RegExp(String.raw`\b\w+\.${name}\b`).test(text) ||
    (!aliases.has(name) && new RegExp(String.raw`\b${name}\b`).test(text))
  return [...names, ...unrecorded].some(isRead)
}
