import type { CellFormat, StatusDisplay, TableInfo, Unit } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'
import { summarizeStatements } from '#lib/sql/summarize-statement.ts'
import { fillPath } from '#lib/ui/links.ts'
import { formatExactValue, formatValue } from '#lib/ui/number.ts'
import { formatAge, formatInstant, readInstant } from '#lib/ui/time.ts'

/**
 * A column with its display options. Columns of query results may be right-aligned regardless of their format, and may
 * distinguish null from empty text.
 */
export type Column = TableInfo['columns'][number] & { flushRight?: boolean; isExact?: boolean }

/** A rendered cell: its text, and a longer text for the tooltip. */
export interface Cell {
  text: string
  title?: string
  href?: string
  /** The state that the definition assigns to the value. */
  state?: StatusDisplay
  /** Whether the text is a placeholder for null or empty. */
  isAbsent?: boolean
}

const units: Partial<Record<CellFormat, Unit>> = {
  number: 'count',
  rows: 'rows',
  bytes: 'bytes',
  'duration-seconds': 'seconds',
  'duration-ms': 'milliseconds',
  'duration-us': 'microseconds',
  percent: 'percent',
  ratio: 'ratio',
}

/** Returns whether a column is numeric and therefore right-aligned. */
export const isNumeric = (column: Column): boolean => column.flushRight ?? units[column.format] !== undefined

/** Right-aligns link columns whose values are numbers. Ids made of digits arrive as text and stay left-aligned. */
export const alignColumn = (column: Column, rows: readonly Row[]): Column => {
  const values = column.format === 'link' ? rows.map((row) => row[column.name]) : []
  return values.some((value) => typeof value === 'number') && values.every((value) => typeof value !== 'string')
    ? { ...column, flushRight: true }
    : column
}

export const isMonospace = (column: Column): boolean => column.format === 'code' || column.format === 'query'

export interface CellContext {
  zone: string
  nowMs: number
  /** Converts a path of this application to a link that preserves the view. */
  link: (path: string) => string
  /** Short forms of the statements of the table, by statement. */
  summaries?: ReadonlyMap<string, string>
}

/** Texts of false values; hosts send booleans as 0 or as false. */
const falseTexts = new Set(['0', 'false'])

/** Formats one value of a row. */
export const toCell = (column: Column, row: Row, context: CellContext): Cell => {
  const value = row[column.name]
  if (column.isExact && (value === null || value === ''))
    return { text: value === null ? 'NULL' : "''", title: value === null ? 'null' : 'empty text', isAbsent: true }
  if (value === null || value === undefined || value === '') return { text: '–' }
  const unit = units[column.format]
  const number = unit ? readNumber(value) : null
  if (unit && number !== null) return { text: formatValue(number, unit), title: formatExactValue(number, unit) }
  const instant = column.format === 'time' || column.format === 'relative-time' ? readInstant(value) : null
  if (instant !== null) return createTimeCell(column, instant, context)
  if (column.format === 'boolean') return { text: falseTexts.has(String(value)) ? 'No' : 'Yes' }
  if (column.format === 'list') return createTextCell([value].flat().join(', '))
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const state = column.states?.[text]
  if (state) return { text: state.word, title: text, state }
  if ((column.format === 'link' || column.format === 'query') && column.href)
    return { ...createTextCell(text, shorten(column, text, context)), href: context.link(fillPath(column.href, row)) }
  return createTextCell(text, shorten(column, text, context))
}

/** Returns a text cell. Its tooltip shows the full text, because the column may truncate the cell. */
const createTextCell = (title: string, text = title): Cell => ({ text, title })

/** Returns the short form of a statement; other texts are returned unchanged. */
const shorten = ({ format }: Column, text: string, { summaries }: CellContext): string =>
  format === 'query' ? (summaries?.get(text) ?? text) : text

/** Returns the short forms of all statements of a table. */
export const summarizeCells = (columns: readonly Column[], rows: readonly Row[]): ReadonlyMap<string, string> => {
  const names = columns.filter(({ format }) => format === 'query').map(({ name }) => name)
  return summarizeStatements(rows.flatMap((row) => names.map((name) => String(row[name] ?? ''))))
}

/** ClickHouse returns the epoch as the time of an event that has never occurred. */
const neverEpochMs = 0

const createTimeCell = (column: Column, instant: number, { zone, nowMs }: CellContext): Cell => {
  if (instant <= neverEpochMs) return { text: 'never' }
  const exact = formatInstant(instant, zone)
  return column.format === 'time' ? { text: exact } : { text: formatAge(instant, nowMs), title: exact }
}

/** Returns the maximum of a column's bars: 100 for percentages, otherwise the largest number. */
export const getBarMaximum = (column: Column, rows: readonly Row[]): number =>
  column.format === 'percent'
    ? 100
    : rows.reduce((largest, row) => Math.max(largest, readNumber(row[column.name]) ?? 0), 0)
