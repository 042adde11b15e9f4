import type { ChartInfo } from '#proto/catalogue.ts'
import type { DashboardPanel } from '#proto/dashboards.ts'
import type { Row } from '#proto/query.ts'
import type { StatementResult } from '#lib/api/console.ts'
import { readNumber } from '#lib/chart/series.ts'

type SloPanel = Extract<DashboardPanel, { kind: 'slo' }>

/** Events of the window of an SLO. */
export interface SloCounts {
  good: number
  total: number
}

/** The state of an SLO. Shares are in percent. */
export interface SloStatus {
  /** Share of good events; null without events. */
  share: number | null
  /** Remaining error budget: 100 if nothing is used, negative if the objective is missed. */
  budget: number | null
  bad: number
  /** Number of bad events that the objective allows. */
  allowed: number
}

/** Sums the columns `good` and `total`; undefined if one of them is missing. */
export const readSloRows = ({ columns, rows }: StatementResult['data']): SloCounts | undefined => {
  const [good, total] = ['good', 'total'].map((name) => columns.findIndex((column) => column.name === name))
  if (good === undefined || total === undefined || good < 0 || total < 0) return undefined
  const sum = (index: number) => rows.reduce((value, row) => value + (readNumber(row[index]) ?? 0), 0)
  return { good: sum(good), total: sum(total) }
}

/** Counts the values of a chart that meet the threshold; undefined if the chart has no such column. */
export const countChartValues = (
  chart: ChartInfo,
  rows: readonly Row[],
  { column, comparison, threshold }: Extract<SloPanel['source'], { kind: 'chart' }>,
): SloCounts | undefined => {
  if (!chart.columns.some(({ name, role }) => name === column && role === 'value')) return undefined
  const values = rows.flatMap((row) => readNumber(row[column]) ?? [])
  const isGood = (value: number) => (comparison === 'below' ? value <= threshold : value >= threshold)
  return { good: values.filter(isGood).length, total: values.length }
}

/** Computes share and error budget. */
export const computeSloStatus = ({ good, total }: SloCounts, objective: number): SloStatus => {
  const bad = Math.max(0, total - good)
  const allowed = (total * (100 - objective)) / 100
  if (total === 0) return { share: null, budget: null, bad, allowed }
  return { share: (100 * good) / total, budget: 100 * (1 - bad / allowed), bad, allowed }
}
