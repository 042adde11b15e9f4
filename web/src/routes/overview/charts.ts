import type { ChartInfo } from '#proto/catalogue.ts'

/** Names of the charts of the overview, most important first. Charts that the catalogue lacks are skipped. */
const chartNames = [
  'query-count',
  'query-duration-percentiles',
  'failed-query-count',
  'memory-usage',
  'cpu-usage',
  'query-count-by-user',
  'query-type',
  'slow-query-occurrences',
  'merge-count',
  'new-parts-created',
  'insert-performance',
  'disk-usage-by-database',
  'top-table-size',
  'disk-size-single',
  'connections-pool',
]

/** Maximum number of charts on the overview. */
const maxCharts = 12

/** Returns the charts of the overview that the catalogue contains, at most `maxCharts`. */
export const selectOverviewCharts = (charts: readonly ChartInfo[]): ChartInfo[] => {
  const byName = new Map(charts.map((chart) => [chart.name, chart]))
  const found = chartNames.flatMap((name) => byName.get(name) ?? [])
  return found.slice(0, maxCharts)
}
