import type { ChartInfo } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'
import { selectVisualization } from './chart-form.ts'
import { readNumber } from './series.ts'

export type ValueColumn = ChartInfo['columns'][number]

/** The data of a chart as columns and rows of a table. */
export interface ValueRows {
  columns: readonly ValueColumn[]
  rows: readonly Row[]
}

/** Maximum number of series that get a column each. With more series, one column contains their names. */
const maxSeriesColumns = 12

/**
 * Returns the rows of a time chart, newest first, with one column per series in the order of the legend. If a series
 * has two values at one instant, one column contains the series names instead. Other charts keep the order of the host.
 */
export const toValueRows = (chart: ChartInfo, rows: readonly Row[]): ValueRows => {
  const columns = chart.columns.filter(({ role }) => role !== 'link')
  const time = columns.find(({ role }) => role === 'time')
  if (!time || selectVisualization(chart) === 'table') return { columns, rows }
  const instantOf = (row: Row): number => readInstant(row[time.name]) ?? 0
  const newestFirst = rows.toSorted((one, other) => instantOf(other) - instantOf(one))
  return pivotSeries(chart, time, newestFirst) ?? { columns, rows: newestFirst }
}

const pivotSeries = (chart: ChartInfo, time: ValueColumn, rows: readonly Row[]): ValueRows | undefined => {
  const names = chart.columns.find(({ role }) => role === 'series')
  const [value, second] = chart.columns.filter(({ role }) => role === 'value')
  const isPlain = chart.columns.length === 3 && selectVisualization(chart) === 'time'
  if (!names || !value || second || !isPlain) return undefined

  const totals = new Map<string, number>()
  const lines = new Map<number, Record<string, unknown>>()
  for (const row of rows) {
    const name = String(row[names.name] ?? '')
    const instant = readInstant(row[time.name]) ?? 0
    const line = lines.get(instant) ?? { [time.name]: row[time.name] }
    // The prefix keeps series names, which come from the host, distinct from the name of the time column.
    const key = columnName(name)
    if (key in line) return undefined
    line[key] = row[value.name]
    lines.set(instant, line)
    totals.set(name, (totals.get(name) ?? 0) + (readNumber(row[value.name]) ?? 0))
  }
  if (totals.size > maxSeriesColumns) return undefined
  const largestFirst = [...totals].toSorted(([, one], [, other]) => other - one)
  const columns = largestFirst.map(([name]) => ({ ...value, name: columnName(name), label: name || '(none)' }))
  return { columns: [time, ...columns], rows: [...lines.values()] }
}

const columnName = (series: string): string => `series ${series}`
