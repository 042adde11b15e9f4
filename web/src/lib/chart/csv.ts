import type { ChartData } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'

/** The rows of a chart as RFC 4180 has them: instants in ISO form, numbers as they came. */
export const toCsv = ({ chart, rows }: Pick<ChartData, 'chart' | 'rows'>): string => {
  const head = chart.columns.map((column) => column.label ?? column.name)
  const lines = rows.map((row) =>
    chart.columns.map(({ name, role }) => {
      const instant = role === 'time' ? readInstant(row[name]) : null
      return instant === null ? String(row[name] ?? '') : new Date(instant).toISOString()
    }),
  )
  return csvOf([head, ...lines])
}

/** Lines of cells as RFC 4180 has them. */
export const csvOf = (lines: readonly (readonly string[])[]): string =>
  lines.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('')

/** A cell that a spreadsheet would take for a formula is one only of text that hosts chose, so it is kept from being one. */
const quoted = (text: string): string => {
  const safe = /^[=+@\t\r]|^-(?![\d.])/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
