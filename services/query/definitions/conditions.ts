import type { CellFormat } from '#proto/catalogue.ts'
import { maxHours } from '#proto/time-limits.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ColumnFilter } from '#proto/query.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'

interface Column {
  name: string
  format: CellFormat
}

/** A condition whose values are bound parameters. */
export interface FilterCondition {
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

/** Returns the condition of a filter. `prefix` makes its parameter names unique within the statement. */
export const buildFilterCondition = (column: Column, filter: ColumnFilter, prefix: string): FilterCondition => {
  const { operator, values } = filter
  if (operator === 'withinHours') return withinHours(column, filter, prefix)
  if (operator === 'contains') return contains(column, values, prefix)
  if (operator === 'notContains') return not(contains(column, values, prefix))
  if (operator === 'notIn') return not(oneOf(column, values, prefix))
  if (operator === 'in') return oneOf(column, values, prefix)
  if (operator === 'between') return between(column, filter, prefix)
  single(filter)
  if (column.format === 'list' && operator === 'eq') return oneOf(column, values, prefix)
  if (column.format === 'list' && operator === 'ne') return not(oneOf(column, values, prefix))
  const { placeholders, parameters } = bound(column, values, prefix)
  return { sql: `${comparable(column)} ${comparisons[operator]} ${placeholders[0] ?? ''}`, parameters }
}

const not = ({ sql, parameters }: FilterCondition): FilterCondition => ({ sql: `NOT ${sql}`, parameters })

const isNumeric = (column: Column): boolean => numericFormats.has(column.format)

/** Binds values as parameters: as numbers for numeric columns, else as text. */
const bound = (column: Column, values: readonly string[], prefix: string) => {
  const names = values.map((_, index) => `${prefix}_${index}`)
  const given = values.map((value) => (isNumeric(column) ? asNumber(column, value) : value))
  return {
    placeholders: names.map((name) => `{${name}:${isNumeric(column) ? 'Float64' : 'String'}}`),
    parameters: Object.fromEntries(names.map((name, index) => [name, given[index] ?? null])),
  }
}

const oneOf = (column: Column, values: readonly string[], prefix: string): FilterCondition => {
  const { placeholders, parameters } = bound(column, values, prefix)
  const list = placeholders.join(', ')
  if (column.format !== 'list') return { sql: `${comparable(column)} IN (${list})`, parameters }
  return { sql: `hasAny(arrayMap(item -> toString(item), ${quoteName(column.name)}), [${list}])`, parameters }
}

const between = (column: Column, { column: name, values }: ColumnFilter, prefix: string): FilterCondition => {
  if (values.length !== 2) throw wrongFilter(`the filter ${name}.between takes two values, separated by a comma`)
  const { placeholders, parameters } = bound(column, values, prefix)
  return { sql: `${comparable(column)} BETWEEN ${placeholders.join(' AND ')}`, parameters }
}

/** Returns a condition for times within the last hours, by the clock of the host. Throws for an invalid filter. */
const withinHours = (column: Column, filter: ColumnFilter, prefix: string): FilterCondition => {
  single(filter)
  if (!times.has(column.format)) throw wrongFilter(`the filter ${column.name}.withinHours requires a time column`)
  const hours = Number(filter.values[0])
  if (!(hours > 0 && hours <= maxHours)) {
    throw wrongFilter(`the filter ${column.name}.withinHours needs a number of hours up to ${maxHours}`)
  }
  const since = `toUnixTimestamp64Milli(now64(3)) - {${prefix}_0:Float64} * 3600000`
  return { sql: `${comparable(column)} >= ${since}`, parameters: { [`${prefix}_0`]: hours } }
}

const wrongFilter = (sentence: string): ServiceError =>
  new ServiceError('invalid', sentence, { details: { parameter: 'filter' } })

/** Returns the SQL for the text of a cell in filters. A list yields one row per item. */
export const buildCellTextSql = (column: Column): string =>
  column.format === 'list' ? `ifNull(toString(arrayJoin(${quoteName(column.name)})), '')` : textOf(column)

/** Returns a condition that finds the text in any text column, case-insensitively. */
export const buildSearchCondition = (columns: readonly Column[], search: string): FilterCondition => {
  const texts = columns.filter((column) => !numericFormats.has(column.format))
  const each = texts.map((column) => `positionCaseInsensitiveUTF8(${textOf(column)}, {search:String}) > 0`)
  return { sql: each.length > 0 ? `(${each.join(' OR ')})` : '0', parameters: each.length > 0 ? { search } : {} }
}

const contains = (column: Column, values: readonly string[], prefix: string): FilterCondition => {
  const each = values.map(
    (_, index) => `positionCaseInsensitiveUTF8(${textOf(column)}, {${prefix}_${index}:String}) > 0`,
  )
  return {
    sql: `(${each.join(' OR ')})`,
    parameters: Object.fromEntries(values.map((value, index) => [`${prefix}_${index}`, value])),
  }
}

/** Returns the SQL of a column for comparisons. Null text equals empty text, but a null number matches nothing. */
const comparable = (column: Column): string =>
  isNumeric(column) ? `toFloat64(${quoteName(column.name)})` : textOf(column)

/** Returns the SQL for a cell as text. List items are joined by newlines, without brackets and quotes. */
const textOf = (column: Column): string =>
  column.format === 'list'
    ? `arrayStringConcat(arrayMap(item -> ifNull(toString(item), ''), ${quoteName(column.name)}), '\\n')`
    : `ifNull(toString(${quoteName(column.name)}), '')`

const single = ({ operator, values, column }: ColumnFilter): void => {
  if (values.length === 1) return
  throw wrongFilter(`the filter ${column}.${operator} takes one value; use ${column}.in for several`)
}

const asNumber = (column: Column, value: string): number => {
  const word = value.trim().toLowerCase()
  if (column.format === 'boolean' && (word === 'true' || word === 'false')) return word === 'true' ? 1 : 0
  const number = word === '' ? Number.NaN : Number(word)
  if (Number.isFinite(number)) return number
  // A time without an offset would depend on the time zone of the process.
  const instant = times.has(column.format) && /(?:z|[+-]\d\d:?\d\d)$/.test(word) ? Date.parse(value) : Number.NaN
  if (Number.isFinite(instant)) return instant
  const wanted = times.has(column.format) ? 'epoch milliseconds or an ISO 8601 time with an offset' : 'a number'
  throw wrongFilter(`the filter on ${column.name} needs ${wanted}`)
}
