import type { DashboardPanel } from '#proto/dashboards.ts'
import type { ChartData } from '#proto/query.ts'
import type { StatementResult } from '#lib/api/console.ts'
import { createDefaultChartSpec, toChartData } from '#lib/chart/result-chart.ts'
import { isDateType, isNumericType } from '#lib/table/result-rows.ts'

type SqlPanel = Pick<Extract<DashboardPanel, { kind: 'sql' }>, 'view' | 'unit'>

/** The columns that each view requires. */
export const missingColumns: Readonly<Record<SqlPanel['view'], string>> = {
  time: 'A time series requires a column of the type Date or DateTime, and a numeric column.',
  bars: 'Bars require a column with names or times, and a numeric column.',
  number: 'A number requires a numeric column.',
  table: '',
}

/** Returns the rows as a chart; undefined if they lack the columns for the view. */
export const toPanelChart = (
  data: StatementResult['data'],
  { view, unit }: SqlPanel,
  title: string,
): ChartData | undefined => {
  const chart = view === 'number' ? toNumbers(data) : toSeries(data, view)
  if (!chart) return undefined
  const columns = chart.chart.columns.map((column) => (column.role === 'value' ? { ...column, unit } : column))
  return { ...chart, chart: { ...chart.chart, title, columns } }
}

const toSeries = (data: StatementResult['data'], view: SqlPanel['view']): ChartData | undefined => {
  const spec = createDefaultChartSpec(data.columns)
  if (!spec) return undefined
  const isOverTime = isDateType(data.columns[spec.along]?.type ?? '')
  if (view === 'time' && !isOverTime) return undefined
  return toChartData(data, { ...spec, kind: view === 'time' ? 'line' : isOverTime ? 'stacked-bar' : 'horizontal-bar' })
}

const toNumbers = (data: StatementResult['data']): ChartData | undefined => {
  const values = data.columns.flatMap(({ type }, index) => (isNumericType(type) ? [index] : []))
  const [along] = values
  if (along === undefined) return undefined
  const shown = toChartData(data, { kind: 'horizontal-bar', along, series: null, values })
  const columns = shown.chart.columns.filter(({ role }) => role === 'value')
  return { ...shown, chart: { ...shown.chart, kind: 'number', columns } }
}
