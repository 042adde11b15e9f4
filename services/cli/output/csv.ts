import { formatCell } from './cells.ts'

/** Returns a line of CSV (RFC 4180) with its line break. Null is an empty field. */
export const formatCsvLine = (cells: readonly unknown[]): string =>
  `${cells.map((cell) => quoteField(formatCell(cell) ?? '')).join(',')}\r\n`

const quoteField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
