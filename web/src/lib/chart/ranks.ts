import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readNumber } from './series.ts'

/** A bar of a categorical chart, with the values that are listed next to it. */
export interface RankedBar {
  label: string
  value: number | null
  /** The row that the bar shows. */
  row: Row
  /** Share of the largest value, from 0 to 1. */
  share: number
  more: readonly { label: string; value: number | null; unit: Unit }[]
}

export interface RankList {
  label: string
  unit: Unit
  ranks: readonly RankedBar[]
}

/** Maximum number of bars in a card; the table view lists all rows. */
export const maxRanks = 50

/** Maximum number of value columns next to the bars. */
const maxMoreColumns = 2

/** Converts the rows of a categorical chart to bars. The first value column is the length of the bars. */
export const toRankList = (chart: ChartInfo, rows: readonly Row[]): RankList => {
  const names = chart.columns.filter((column) => column.role === 'label' || column.role === 'series')
  const [drawn, ...others] = chart.columns.filter((column) => column.role === 'value')
  if (!drawn) return { label: '', unit: 'none', ranks: [] }
  const values = rows.map((row) => readNumber(row[drawn.name]))
  const largest = Math.max(0, ...values.map((value) => value ?? 0))
  const ranks = rows.slice(0, maxRanks).map((row, index) => ({
    label: names.map((column) => String(row[column.name] ?? '')).join(' · ') || (drawn.label ?? drawn.name),
    value: values[index] ?? null,
    row,
    share: largest > 0 ? Math.max(0, (values[index] ?? 0) / largest) : 0,
    more: others.slice(0, maxMoreColumns).map((column) => ({
      label: column.label ?? column.name,
      value: readNumber(row[column.name]),
      unit: column.unit,
    })),
  }))
  return { label: drawn.label ?? drawn.name, unit: drawn.unit, ranks }
}
