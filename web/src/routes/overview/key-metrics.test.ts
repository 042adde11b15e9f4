import { describe, expect, it } from 'vitest'
import type { HostOverview } from '#proto/query.ts'
import type { ChartStates } from '#lib/api/chart-states.ts'
import { createOverviewMetrics } from './key-metrics.ts'

const period = { range: 'Last 6 hours', nowMs: Date.parse('2026-03-02T01:30:00Z') }
// Only these fields of an overview and of a chart matter here.
const overview = {
  hostInfo: { timezone: 'Asia/Tokyo', version: '26.3', uptimeSeconds: 5 },
  todayQueries: 7,
} as HostOverview
const charts = {
  'failed-query-count': {
    data: {
      chart: {
        columns: [
          { name: 'time', role: 'time' },
          { name: 'queries', role: 'value' },
        ],
      },
      rows: [{ queries: 3 }, { queries: '4' }, { queries: null }],
    },
  },
} as unknown as ChartStates
const find = (label: string) => createOverviewMetrics(overview, charts, period).find((metric) => metric.label === label)

describe('the key metrics of the overview', () => {
  it('all lead to a page', () => {
    const paths = createOverviewMetrics(undefined, undefined, period).map(({ path }) => path)
    expect(paths).toHaveLength(10)
    for (const path of paths) expect(path).toMatch(/^\/(?:tables|charts)\/\w/)
  })

  it('count failed queries in the range of the page', () => {
    expect(find('Failed queries')).toMatchObject({ value: 7, note: 'Last 6 hours', ofRange: true })
    expect(find('Slow queries')?.value).toBeUndefined()
  })

  it('lead from the queries of today to those since midnight on the host', () => {
    expect(find('Queries today')).toMatchObject({
      path: '/tables/history-queries',
      sinceMs: Date.parse('2026-03-01T15:00:00Z'),
    })
  })
})
