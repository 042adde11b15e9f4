import { extractFigures, findUnit, type Figure, type FigureKind } from './figures.ts'

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
  /** The unit that the name states; null if it states none. */
  unit: { kind: FigureKind; scale: number } | null
  /** Whether the values describe the statement itself, such as its duration. Only claims about statements use them. */
  isStatistic: boolean
}

/** A cell is a number, a text that names its row, or a text with figures. */
export interface ResultCell {
  number: NumberCell | null
  text: string | null
  figures: readonly Figure[]
}

/** A cell whose whole text is a number, with the unit that the text or the column states. */
export interface NumberCell {
  value: number
  unit: ResultColumn['unit']
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

/** Returns the tables of a tool result: lists of records, columns with rows, and single records as tables of one row. */
export const readTables = (value: unknown, isComplete: boolean): ResultTable[] => {
  const tables: ResultTable[] = []
  collectTables(value, { name: '', isComplete, depth: maxDepth }, tables)
  return tables
}

/** The position of a value in a result. */
interface Place {
  name: string
  isComplete: boolean
  depth: number
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
  { name, isComplete }: Place,
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
  isStatistic = false,
): ResultTable => {
  const columns = names.map((column): ResultColumn => {
    const words = splitIntoWords(column)
    return { words, unit: findColumnUnit(words), isStatistic }
  })
  const cells = rows.map((row) => columns.map((column, index) => toCell(row[index], column)))
  return { words: splitIntoWords(name), columns, rows: cells, isComplete }
}

/** Splits a name or a text into words in lower case and singular. */
export const splitIntoWords = (text: string): string[] =>
  (text.replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, ' ').match(/\p{L}+|µs/gu) ?? []).map(toSingular)

const toSingular = (word: string): string => {
  const lower = word.toLowerCase()
  if (lower === 'bytes') return 'byte'
  if (lower.endsWith('ies')) return `${lower.slice(0, -3)}y`
  return /[^s]s$/.test(lower) && lower.length > 3 ? lower.slice(0, -1) : lower
}

const unitWords: readonly (readonly [RegExp, FigureKind])[] = [
  [/^(?:byte|size|memory|ram)$/, 'bytes'],
  [/^(?:percent|percentage|pct)$/, 'percent'],
  // ClickHouse states these in seconds. A column named `duration` or `latency` may be in any unit.
  [/^(?:uptime|elapsed|delay)$/, 'seconds'],
]

/** Finds the unit that the last words of a name state: `bytes_on_disk`, `sizeGiB`, `query_duration_ms`, `share_percent`. */
const findColumnUnit = (words: readonly string[]): ResultColumn['unit'] => {
  const joined = words.join('')
  const suffix =
    /(ki|mi|gi|ti)b$/.exec(joined)?.[0] ??
    words.findLast((word) => /^(?:[kmgtp]i?b|[nuµm]s|s|sec|second|minute|hour|day|millisecond|microsecond)$/.test(word))
  const written = suffix === undefined ? undefined : findUnit(suffix)
  if (written) return written
  const kind = unitWords.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1]
  return kind === undefined ? null : { kind, scale: 1 }
}

const wholeNumber = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i
/** Partitions are often months or days, which name rows rather than count something. */
const monthOrDay = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-3]\d)?$/

const toCell = (value: unknown, { unit }: ResultColumn): ResultCell => {
  if (typeof value === 'number') return { number: { value, unit, tolerance: 0 }, text: null, figures: [] }
  if (typeof value !== 'string') return { number: null, text: null, figures: [] }
  const text = value.trim()
  if (wholeNumber.test(text)) {
    const number = { value: Number(text), unit, tolerance: 0 }
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
