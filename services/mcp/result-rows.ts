import { estimateTokens } from './estimate-tokens.ts'

/** A cell of a result; values of other types, such as arrays, are JSON text. */
export type Cell = string | number | boolean | null

/** A record of a result, whose lists are joined in its text. */
type TableRecord = Readonly<Record<string, Cell | readonly string[]>>

/** Returns records as a tab-separated table with a line of names. Columns without any value are omitted. */
export const formatRecords = (records: readonly TableRecord[]): string => {
  const [first = {}] = records
  const hasValue = (name: string) => records.some((record) => toText(record[name]) !== '')
  const names = Object.keys(first).filter(hasValue)
  if (names.length === 0) return ''
  return [formatRow(names), ...records.map((record) => formatRow(names.map((name) => toText(record[name]))))].join('\n')
}

const toText = (value: TableRecord[string] | undefined): Cell => {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? value.join(', ') : value
}

/** Limits of the rows that one result returns. */
interface RowLimits {
  maxBytes: number
  /** The lines before the rows. */
  header: string
  /** Maximum number of estimated tokens; undefined if only the bytes are limited. */
  maxTokens: number | undefined
}

/** Returns the value of a cell. */
export const toCell = (value: unknown): Cell => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  return value === null || value === undefined ? null : JSON.stringify(value)
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

const formatCell = (cell: Cell): string =>
  cell === null ? String.raw`\N` : String(cell).replace(/[\\\t\n\r]/g, (character) => escapes[character] ?? character)

/** Returns a row as a line of the ClickHouse format `TabSeparated`. */
export const formatRow = (row: readonly Cell[]): string => row.map(formatCell).join('\t')

/**
 * Returns the first rows that fit into the limits. If not even the first one fits, its long cells are shortened, because
 * a result without rows would not help.
 */
export const selectRows = (rows: readonly Cell[][], limits: RowLimits): Cell[][] => {
  const selected: Cell[][] = []
  let bytes = Buffer.byteLength(limits.header)
  let tokens = limits.maxTokens === undefined ? 0 : estimateTokens(limits.header)
  for (const row of rows) {
    const line = `${formatRow(row)}\n`
    bytes += Buffer.byteLength(line)
    tokens += limits.maxTokens === undefined ? 0 : estimateTokens(line)
    if (bytes > limits.maxBytes || tokens > (limits.maxTokens ?? Infinity)) break
    selected.push(row)
  }
  const [first] = rows
  return selected.length === 0 && first ? [shortenCells(first, limits)] : selected
}

/** Minimum length of a shortened cell, in characters. */
const minCellLength = 16

/** Shortens the long cells of a row until it fits. */
const shortenCells = (row: readonly Cell[], { maxBytes, maxTokens = Infinity }: RowLimits): Cell[] => {
  let maxLength = maxBytes
  let shortened = [...row]
  while (maxLength > minCellLength) {
    maxLength = Math.floor(maxLength / 2)
    shortened = row.map((cell) => (typeof cell === 'string' ? shortenCell(cell, maxLength) : cell))
    const line = formatRow(shortened)
    if (Buffer.byteLength(line) <= maxBytes && estimateTokens(line) <= maxTokens) break
  }
  return shortened
}

const shortenCell = (cell: string, maxLength: number): string =>
  cell.length <= maxLength
    ? cell
    : `${cell.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')}… (${cell.length} characters)`
