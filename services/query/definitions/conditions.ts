import type { CellFormat } from '#proto/catalogue.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Filter } from '#proto/query.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'
import { quoteName } from './quote.ts'

interface Column {
  name: string
  format: CellFormat
}

/** A condition whose values are bound parameters. */
export interface Condition {
  sql: string
  parameters: Readonly<Record<string, ParameterValue>>
}

/** Formats whose cells are numbers. */
export const numericFormats: ReadonlySet<CellFormat> = new Set([
  'number',
  'bytes',
  'rows',
  'duration-seconds',
  'duration-ms',
  'duration-us',
  'percent',
  'ratio',
  'time',
  'relative-time',
  'boolean',
])
const times = new Set<CellFormat>(['time', 'relative-time'])

const comparisons = { eq: '=', ne: '!=', lt: '<', le: '<=', gt: '>', ge: '>=' } as const

/** One filter of a reader; `prefix` keeps its parameters apart from those of others. */
export const condition = (column: Column, filter: Filter, prefix: string): Condition => {
  const { operator, values } = filter
  if (operator === 'contains') return contains(column, values, prefix)
  const isNumber = numericFormats.has(column.format)
  const type = isNumber ? 'Float64' : 'String'
  const names = values.map((_, index) => `${prefix}_${index}`)
  const given = values.map((value) => (isNumber ? asNumber(column, value) : value))
  const parameters = Object.fromEntries(names.map((name, index) => [name, given[index] ?? null]))
  const placeholders = names.map((name) => `{${name}:${type}}`)
  const expression = comparable(column, isNumber)
  if (column.format === 'list' && (operator === 'eq' || operator === 'in')) {
    return {
      sql: `hasAny(arrayMap(item -> toString(item), ${quoteName(column.name)}), [${placeholders.join(', ')}])`,
      parameters,
    }
  }
  if (operator === 'in') return { sql: `${expression} IN (${placeholders.join(', ')})`, parameters }
  return {
    sql: `${expression} ${comparisons[operator]} ${placeholders[0] ?? ''}`,
    parameters: single(parameters, filter),
  }
}

/** The text in any column that holds text. */
export const searchCondition = (columns: readonly Column[], search: string): Condition => {
  const texts = columns.filter((column) => !numericFormats.has(column.format))
  const each = texts.map((column) => `positionCaseInsensitiveUTF8(${comparable(column, false)}, {search:String}) > 0`)
  return { sql: each.length > 0 ? `(${each.join(' OR ')})` : '0', parameters: each.length > 0 ? { search } : {} }
}

const contains = (column: Column, values: readonly string[], prefix: string): Condition => {
  const each = values.map(
    (_, index) => `positionCaseInsensitiveUTF8(${comparable(column, false)}, {${prefix}_${index}:String}) > 0`,
  )
  return {
    sql: `(${each.join(' OR ')})`,
    parameters: Object.fromEntries(values.map((value, index) => [`${prefix}_${index}`, value])),
  }
}

/** Null compares like nothing: as empty text it is found by `ne`, as null number it is not found at all. */
const comparable = (column: Column, isNumber: boolean): string =>
  isNumber ? `toFloat64(${quoteName(column.name)})` : `ifNull(toString(${quoteName(column.name)}), '')`

const single = <P>(parameters: P, { operator, values, column }: Filter): P => {
  if (values.length === 1) return parameters
  throw new ServiceError('invalid', `the filter ${column}.${operator} takes one value; use ${column}.in for several`, {
    details: { parameter: 'filter' },
  })
}

const asNumber = (column: Column, value: string): number => {
  const word = value.trim().toLowerCase()
  if (column.format === 'boolean' && (word === 'true' || word === 'false')) return word === 'true' ? 1 : 0
  const number = word === '' ? Number.NaN : Number(word)
  if (Number.isFinite(number)) return number
  // Without an offset an instant would mean a different one on every machine.
  const instant = times.has(column.format) && /(?:z|[+-]\d\d:?\d\d)$/.test(word) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(instant)) return instant
  const wanted = times.has(column.format) ? 'epoch milliseconds or an ISO instant with its offset' : 'a number'
  throw new ServiceError('invalid', `the filter on ${column.name} needs ${wanted}`, {
    details: { parameter: 'filter' },
  })
}
