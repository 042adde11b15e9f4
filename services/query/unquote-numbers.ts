import type { CellFormat } from '#proto/catalogue.ts'
import { parseJson } from '#shared/parse-json.ts'
import { numericFormats } from './definitions/conditions.ts'

interface Column {
  name: string
  format: CellFormat
}

/** Turns quoted integers of numeric columns into numbers in whole `JSONEachRow` lines; what is no number stays as it is. */
export const unquoteNumbers = (frame: Buffer, columns: readonly Column[]): Buffer => {
  const numeric = columns.filter((column) => numericFormats.has(column.format)).map((column) => column.name)
  const lines = frame.toString('utf8').split('\n')
  return Buffer.from(lines.map((line) => (line === '' ? line : unquoteLine(line, numeric))).join('\n'))
}

const unquoteLine = (line: string, numeric: readonly string[]): string => {
  const row = parsed(line)
  if (row === undefined) return line
  const values = new Map(Object.entries(row))
  for (const name of numeric) {
    const value: unknown = values.get(name)
    const number = typeof value === 'string' && value !== '' ? Number(value) : Number.NaN
    if (Number.isSafeInteger(number)) values.set(name, number)
  }
  return JSON.stringify(Object.fromEntries(values))
}

/** A row that is longer than a frame arrives in parts, which pass as they are. */
const parsed = (line: string): object | undefined => {
  const row = parseJson(line)
  return typeof row === 'object' && row !== null ? row : undefined
}
