import type { ChartInfo } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'
import { formOf } from './form.ts'
import { readNumber } from './series.ts'

export type ValueColumn = ChartInfo['columns'][number]

/** What a chart shows, as the rows and columns of a table. */
export interface ValueRows {
  columns: readonly ValueColumn[]
  rows: readonly Row[]
}

/** More columns than this are not compared along a line, so the names of more series stand in a column of their own. */
const mostSeries = 12

/**
 * The rows of a chart over time, the newest first, with a column for each series as its legend has them; a name that occurs twice at
 * an instant has lines of its own. What is no course of time stands as the host put it in order.
 */
export const valueRows = (chart: ChartInfo, rows: readonly Row[]): ValueRows => {
  const time = chart.columns.find(({ role }) => role === 'time')
  if (!time || formOf(chart) === 'table') return { columns: chart.columns, rows }
  const instantOf = (row: Row): number => readInstant(row[time.name]) ?? 0
  const newestFirst = rows.toSorted((one, other) => instantOf(other) - instantOf(one))
  return besideOneAnother(chart, time, newestFirst) ?? { columns: chart.columns, rows: newestFirst }
}

const besideOneAnother = (chart: ChartInfo, time: ValueColumn, rows: readonly Row[]): ValueRows | undefined => {
  const names = chart.columns.find(({ role }) => role === 'series')
  const [value, second] = chart.columns.filter(({ role }) => role === 'value')
  const isPlain = chart.columns.length === 3 && formOf(chart) === 'time'
  if (!names || !value || second || !isPlain) return undefined

  const totals = new Map<string, number>()
  const lines = new Map<number, Record<string, unknown>>()
  for (const row of rows) {
    const name = String(row[names.name] ?? '')
    const instant = readInstant(row[time.name]) ?? 0
    const line = lines.get(instant) ?? { [time.name]: row[time.name] }
    // Names of series are chosen by hosts, so they are kept apart from the name of the time's column.
    const key = columnName(name)
    if (key in line) return undefined
    line[key] = row[value.name]
    lines.set(instant, line)
    totals.set(name, (totals.get(name) ?? 0) + (readNumber(row[value.name]) ?? 0))
  }
  if (totals.size > mostSeries) return undefined
  const largestFirst = [...totals].toSorted(([, one], [, other]) => other - one)
  const columns = largestFirst.map(([name]) => ({ ...value, name: columnName(name), label: name || '(none)' }))
  return { columns: [time, ...columns], rows: [...lines.values()] }
}

const columnName = (series: string): string => `series ${series}`
