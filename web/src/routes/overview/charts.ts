import type { ChartInfo } from '#proto/catalogue.ts'

/** What an operator looks at first, in the order of looking; charts that the catalogue lacks are passed over. */
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

/** One batch may ask for this many charts of the overview. */
const maximumCharts = 12

/** The charts of the overview, out of those in force. */
export const overviewCharts = (charts: readonly ChartInfo[]): ChartInfo[] => {
  const byName = new Map(charts.map((chart) => [chart.name, chart]))
  const found = wanted.flatMap((name) => byName.get(name) ?? [])
  return found.slice(0, maximumCharts)
}
