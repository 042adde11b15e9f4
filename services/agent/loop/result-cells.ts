import { findColumnUnit, findRequestedUnit, findSettingUnit, findValueUnit, isPluralName } from './column-units.ts'
import { extractFigures, type Figure } from './figures.ts'
import { type Moment, toMoment } from './moments.ts'
import type { Unit } from './units.ts'
import { splitIntoWords } from './words.ts'

/** A table in a tool result. `columns` and each row have the same order. */
export interface ResultTable {
  /** The words of the key under which the result lists the rows, in lower case and singular. */
  words: readonly string[]
  columns: readonly ResultColumn[]
  rows: readonly (readonly ResultCell[])[]
  /** Whether the table has all its rows. Sums over an incomplete table would be wrong. */
  isComplete: boolean
}

/** A column of a result. */
export interface ResultColumn {
  /** The words of the name in lower case and singular. */
  words: readonly string[]
  /** The unit that the name, the statement or all values state; null if it is unknown. */
  unit: Unit | null
  /** Whether the name is a plural such as `parts`, so that the values count objects and have no unit. */
  isPlural: boolean
  /** The distinct texts of its cells, and those of them that are dates or times. */
  texts: readonly string[]
  moments: ReadonlyMap<string, Moment>
  /** Whether the values describe the statement itself, such as its duration. Only claims about statements use them. */
  isStatistic: boolean
}

/** A cell is a number, a text that names its row, or a text with figures. */
export interface ResultCell {
  number: NumberCell | null
  text: string | null
  figures: readonly Figure[]
  /** The value of a cell that is true or false. */
  isTrue?: boolean
}

/** A cell whose whole text is a number, with the unit that the text or the column states. */
export interface NumberCell {
  value: number
  unit: Unit | null
  /** Half the place value of the last digit in a text such as `1.23 GiB`; 0 for exact values. */
  tolerance: number
}

/** A result that a claim can cite, as the model received it. */
export interface CitedResult {
  tables: readonly ResultTable[]
  /** The figures in the summary of the tool. */
  summary: readonly Figure[]
  /** The number of rows that each statement of the tool call returned. */
  rowCounts: readonly number[]
  /** The statements and their parameters. Their figures count only in conditions such as `the last 24 hours`. */
  request: string
}

const maxDepth = 8

/**
 * Returns the tables of a tool result: lists of records, columns with rows, and single records as tables of one row.
 * The request states the units of columns such as `max(query_duration_ms) AS slowest`.
 */
export const readTables = (value: unknown, isComplete: boolean, request = ''): ResultTable[] => {
  const tables: ResultTable[] = []
  collectTables(value, { name: '', isComplete, depth: maxDepth, request }, tables)
  return tables
}

/** The position of a value in a result. */
interface Place {
  name: string
  isComplete: boolean
  depth: number
  request: string
}

const collectTables = (value: unknown, place: Place, tables: ResultTable[]): void => {
  if (place.depth === 0) return
  if (Array.isArray(value)) addList(value, place, tables)
  if (!isRecord(value)) return
  const { columns, rows } = value
  const isStatement = Array.isArray(columns) && Array.isArray(rows)
  if (isStatement) {
    const names = columns.map((column: unknown) => (isRecord(column) ? String(column.name) : String(column)))
    const isWhole = place.isComplete && !value.truncated
    tables.push(createTable({ ...place, isComplete: isWhole }, names, rows.map(toRow)))
  }
  const scalars = Object.entries(value).filter(([, each]) => isScalar(each))
  if (scalars.length > 0) {
    const values = scalars.map(([, each]) => each)
    tables.push(
      createTable(
        { ...place, name: '' },
        scalars.map(([name]) => name),
        [values],
        isStatement,
      ),
    )
  }
  for (const [name, each] of Object.entries(value)) {
    const isRead = isStatement && (name === 'columns' || name === 'rows')
    if (!isRead) collectTables(each, { ...place, name, depth: place.depth - 1 }, tables)
  }
}

const addList = (list: readonly unknown[], place: Place, tables: ResultTable[]): void => {
  const records = list.filter(isRecord)
  if (records.length === 0) {
    const rows = list.map(toRow)
    const width = Math.max(0, ...rows.map(({ length }) => length))
    tables.push(
      createTable(
        place,
        Array.from({ length: width }, () => place.name),
        rows,
      ),
    )
    return
  }
  const keys = [...new Set(records.flatMap((record) => Object.keys(record)))]
  const names = keys.filter((key) => records.some((record) => isScalar(record[key])))
  tables.push(
    createTable(
      place,
      names,
      records.map((record) => names.map((name) => record[name])),
    ),
  )
  for (const record of records) {
    for (const [name, each] of Object.entries(record)) {
      if (!isScalar(each)) collectTables(each, { ...place, name, depth: place.depth - 1 }, tables)
    }
  }
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const toRow = (row: unknown): readonly unknown[] => (Array.isArray(row) ? row : [row])

const createTable = (
  { name, isComplete, request }: Place,
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
  isStatistic = false,
): ResultTable => {
  const cells = rows.map((row) => names.map((_name, index) => toCell(row[index])))
  const columns = names.map((column, index): ResultColumn => {
    const words = splitIntoWords(column)
    const values = cells.flatMap((row) => row[index]?.number ?? [])
    const unit = findColumnUnit(column) ?? findRequestedUnit(request, column) ?? findValueUnit(values, words.at(-1))
    const texts = [...new Set(cells.flatMap((row) => row[index]?.text ?? []))]
    const moments = new Map(texts.flatMap((text) => toMoments(text)))
    return { words, unit, isPlural: unit === null && isPluralName(column), texts, moments, isStatistic }
  })
  const nameIndex = findNameOfValue(columns)
  const withUnits = cells.map((row) => row.map((cell, index) => addUnit(cell, columns[index], row[nameIndex])))
  return { words: splitIntoWords(name), columns, rows: withUnits, isComplete }
}

const toMoments = (text: string): [string, Moment][] => {
  const moment = toMoment(text)
  return moment ? [[text, moment]] : []
}

/** Returns the column with the names of metrics or settings, if the only other values are in a column `value`. */
export const findNameOfValue = (columns: readonly ResultColumn[]): number =>
  columns.some(({ words }) => words.join(' ') === 'value')
    ? columns.findIndex(({ words }) => /^(?:metric|event|name|setting|key|parameter|counter)$/.test(words.join(' ')))
    : -1

/** Adds the unit of the column to a number. The unit of a metric or a setting is in its name. */
const addUnit = (cell: ResultCell, column: ResultColumn | undefined, name: ResultCell | undefined): ResultCell => {
  if (cell.number === null || cell.number.unit !== null) return cell
  const ofName = column?.words.join(' ') === 'value' && name?.text ? findSettingUnit(name.text) : null
  return { ...cell, number: { ...cell.number, unit: ofName ?? column?.unit ?? null } }
}

const wholeNumber = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i
/** Partitions are often months or days, which name rows rather than count something. */
const monthOrDay = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-3]\d)?$/

const toCell = (value: unknown): ResultCell => {
  if (typeof value === 'boolean') return { number: null, text: null, figures: [], isTrue: value }
  if (typeof value === 'number') return { number: { value, unit: null, tolerance: 0 }, text: null, figures: [] }
  if (typeof value !== 'string') return { number: null, text: null, figures: [] }
  const text = value.trim()
  if (wholeNumber.test(text)) {
    const number = { value: Number(text), unit: null, tolerance: 0 }
    return { number, text: monthOrDay.test(text) ? text : null, figures: [] }
  }
  const figures = /\d/.test(text) ? extractFigures(text) : []
  const [figure] = figures
  const [reading] = figure?.readings ?? []
  const isNumber = figure !== undefined && figures.length === 1 && figure.text === text
  if (!isNumber || reading === undefined) return { number: null, text, figures }
  const number = { value: reading.value, unit: { kind: reading.kind, scale: 1 }, tolerance: reading.tolerance }
  return { number, text: null, figures }
}
