import { expect, it } from 'vitest'
import type { ChartInfo } from '#proto/catalogue.ts'
import { toLanes } from './lanes.ts'

const chart: ChartInfo = {
  name: 'merges-timeline',
  topic: 'merges',
  title: 'Merges',
  doc: 'Merges.',
  feature: 'METRICS',
  kind: 'timeline',
  requires: [],
  parameters: [],
  cache: 'standard',
  columns: [
    { name: 'time', role: 'time', unit: 'count' },
    { name: 'table', role: 'series', unit: 'count' },
    { name: 'part', role: 'label', unit: 'count' },
    { name: 'took', role: 'value', unit: 'seconds' },
  ],
}

it('creates a lane per name, largest first, with durations in milliseconds', () => {
  const rows = [
    { time: 1_000, table: 'a', part: 'x', took: 2 },
    { time: '5000', table: 'b', part: 'y', took: 0 },
    { time: 6_000, table: 'b', part: 'z', took: null },
    { time: null, table: 'c', part: 'never', took: 1 },
  ]
  expect(toLanes(chart, rows)).toEqual([
    {
      name: 'b',
      spans: [
        { fromMs: 5_000, lengthMs: 0, text: 'y' },
        { fromMs: 6_000, lengthMs: 0, text: 'z' },
      ],
    },
    { name: 'a', spans: [{ fromMs: 1_000, lengthMs: 2_000, text: 'x' }] },
  ])
})
