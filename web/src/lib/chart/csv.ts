import type { Unit } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'

/** Rates are computed here, so that the header must distinguish them from the totals that the API returns. */
const rateTexts: Partial<Record<Unit, string>> = {
  'per-minute': ' per minute',
  'per-second': ' per second',
  'rows-per-second': ' per second',
  'bytes-per-second': ' per second',
}

/** Returns the rows of a chart as RFC 4180 CSV, with instants in ISO 8601. */
export const toCsv = ({ chart, rows }: Pick<ChartData, 'chart' | 'rows'>): string => {
  const columns = chart.columns.filter(({ role }) => role !== 'link')
  const head = columns.map(({ label, name, unit }) => (label ?? name) + (rateTexts[unit] ?? ''))
  const lines = rows.map((row) =>
    columns.map(({ name, role }) => {
      const instant = role === 'time' ? readInstant(row[name]) : null
      return instant === null ? String(row[name] ?? '') : new Date(instant).toISOString()
    }),
  )
  return formatCsv([head, ...lines])
}

/** Returns lines of cells as RFC 4180 CSV. */
export const formatCsv = (lines: readonly (readonly string[])[]): string =>
  lines.map((cells) => `${cells.map(quoteCell).join(',')}\r\n`).join('')

/** Quotes a cell. A leading apostrophe keeps spreadsheets from evaluating text of hosts as a formula. */
const quoteCell = (text: string): string => {
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
