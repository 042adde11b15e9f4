import type { ChartInfo } from '#proto/catalogue.ts'

/** Charts of the overview, most important first; missing ones are skipped. */
const wanted = [
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
const maximumCharts = 12

/** Returns the available charts of the overview. */
export const overviewCharts = (charts: readonly ChartInfo[]): ChartInfo[] => {
  const byName = new Map(charts.map((chart) => [chart.name, chart]))
  const found = wanted.flatMap((name) => byName.get(name) ?? [])
  return found.slice(0, maximumCharts)
}
