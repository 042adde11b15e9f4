import { describe, expect, it } from 'vitest'
import type { ChartInfo } from '#proto/catalogue.ts'
import { findRowsPath, toSeriesRow } from './rows-path.ts'

const lookback = [{ name: 'last_hours', type: 'UInt16', default: 24, doc: '' }]
const tables = [
  { name: 'running', charts: ['load'], parameters: [] },
  { name: 'load-log', charts: ['load'], parameters: lookback },
  { name: 'history-queries', charts: [], parameters: lookback },
]
const createChart = (more: Partial<ChartInfo>): ChartInfo => ({
  name: 'queries',
  topic: 'queries',
  title: 'Queries',
  doc: 'Queries.',
  feature: 'QUERIES',
  requires: [],
  kind: 'bar',
  parameters: [],
  cache: 'standard',
  columns: [
    { name: 'time', role: 'time', unit: 'count' },
    { name: 'user', role: 'series', unit: 'count' },
    { name: 'queries', role: 'value', unit: 'count' },
  ],
  ...more,
})

describe('the path of the rows behind a value', () => {
  const href = '/tables/history-queries?filter=user.eq.{user}&sort=memory.desc'

  it('filters by the series', () => {
    const chart = createChart({ href })
    expect(findRowsPath(chart, tables, toSeriesRow(chart, 'a & b'))).toBe(
      '/tables/history-queries?filter=user.eq.a%20%26%20b&sort=memory.desc',
    )
  })

  it.each([['others'], ['…'], [null]])('omits the filter for the series %j', (key) => {
    const chart = createChart({ href })
    expect(findRowsPath(chart, tables, toSeriesRow(chart, key))).toBe('/tables/history-queries?sort=memory.desc')
  })

  it('is that of the value column, if it has one', () => {
    const columns = [{ name: 'failed', role: 'value', unit: 'count', href: '/tables/failed-queries' }] as const
    expect(findRowsPath(createChart({ href, columns: [...columns] }), tables, {}, 'failed')).toBe(
      '/tables/failed-queries',
    )
  })

  it('is null if it needs a value that the row lacks', () => {
    expect(findRowsPath(createChart({ href: '/fingerprints/{hash}' }), tables, {})).toBeNull()
  })

  it('is the table page that lists the chart, with a time range for time series', () => {
    expect(findRowsPath(createChart({ name: 'load' }), tables)).toBe('/tables/load-log')
    expect(findRowsPath(createChart({ name: 'load', columns: [] }), tables)).toBe('/tables/running')
  })

  it('is the query history for other time series, and null for other charts of current values', () => {
    expect(findRowsPath(createChart({ name: 'other' }), tables)).toBe('/tables/history-queries')
    expect(findRowsPath(createChart({ name: 'other', columns: [] }), tables)).toBeNull()
  })
})
