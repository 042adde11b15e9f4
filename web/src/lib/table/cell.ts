import type { CellFormat, CellState, TableInfo, Unit } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readNumber } from '#lib/chart/series.ts'
import { exactValue, formatValue } from '#lib/ui/number.ts'
import { formatAge, formatInstant, readInstant } from '#lib/ui/time.ts'

/**
 * A column as definitions describe it; one that no definition describes may be set flush right although it is text, and may tell null from
 * empty text.
 */
export type Column = TableInfo['columns'][number] & { flushRight?: boolean; isExact?: boolean }

/** How a cell is drawn: its text, and the longer text that a pointer or a screen reader may want. */
export interface Cell {
  text: string
  title?: string
  href?: string
  /** What the value means, where the definition says. */
  state?: CellState
  /** Whether the text stands for something that is none. */
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

/** Columns of numbers are set flush right, so that digits of the same weight stand below one another. */
export const isNumeric = (column: Column): boolean => column.flushRight ?? units[column.format] !== undefined

/** A count that leads somewhere is set as other numbers are. An id made of digits comes as text, and is set as texts are. */
export const setFlush = (column: Column, rows: readonly Row[]): Column => {
  const values = column.format === 'link' ? rows.map((row) => row[column.name]) : []
  return values.some((value) => typeof value === 'number') && values.every((value) => typeof value !== 'string')
    ? { ...column, flushRight: true }
    : column
}

export const isMono = (column: Column): boolean => column.format === 'code' || column.format === 'query'

export interface CellContext {
  zone: string
  nowMs: number
  /** Makes a path of this application a link that keeps what the reader has chosen. */
  link: (path: string) => string
}

/** How hosts write that something is not so, by the type of the column. */
const noWords = new Set(['0', 'false'])

/** One value of a row in the format of its column. */
export const toCell = (column: Column, row: Row, context: CellContext): Cell => {
  const value = row[column.name]
  if (column.isExact && (value === null || value === ''))
    return { text: value === null ? 'NULL' : "''", title: value === null ? 'null' : 'empty text', isAbsent: true }
  if (value === null || value === undefined || value === '') return { text: '–' }
  const unit = units[column.format]
  const number = unit ? readNumber(value) : null
  if (unit && number !== null) return { text: formatValue(number, unit), title: exactValue(number, unit) }
  const instant = column.format === 'time' || column.format === 'relative-time' ? readInstant(value) : null
  if (instant !== null) return timeCell(column, instant, context)
  if (column.format === 'boolean') return { text: noWords.has(String(value)) ? 'No' : 'Yes' }
  if (column.format === 'list') return whole([value].flat().join(', '))
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const state = column.states?.[text]
  if (state) return { text: state.word, title: text, state }
  if ((column.format === 'link' || column.format === 'query') && column.href)
    return { ...whole(text), href: context.link(fill(column.href, row)) }
  return whole(text)
}

/** A text that its column may cut is told whole by its title. */
const whole = (text: string): Cell => ({ text, title: text })

/** The host has no such moment: ClickHouse writes "never" as the first instant of its calendar. */
const never = 0

const timeCell = (column: Column, instant: number, { zone, nowMs }: CellContext): Cell => {
  if (instant <= never) return { text: 'never' }
  const exact = formatInstant(instant, zone)
  return column.format === 'time' ? { text: exact } : { text: formatAge(instant, nowMs), title: exact }
}

/** A path with `{column}` replaced by the row's values. */
const fill = (path: string, row: Row): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(row[name] ?? '')))

/** What the bars of a column are relative to: its largest number, or the whole of which it tells a percentage. */
export const largestOf = (column: Column, rows: readonly Row[]): number =>
  column.format === 'percent'
    ? 100
    : rows.reduce((largest, row) => Math.max(largest, readNumber(row[column.name]) ?? 0), 0)
