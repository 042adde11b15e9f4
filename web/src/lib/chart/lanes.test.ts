import { expect, it } from 'vitest'
import type { ChartInfo } from '#proto/catalogue.ts'
import { findSpanInLane, toLanes } from './lanes.ts'

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
        { fromMs: 5_000, lengthMs: 0, text: 'y', row: rows[1] },
        { fromMs: 6_000, lengthMs: 0, text: 'z', row: rows[2] },
      ],
    },
    { name: 'a', spans: [{ fromMs: 1_000, lengthMs: 2_000, text: 'x', row: rows[0] }] },
  ])
})

it('finds the event of another lane that starts nearest', () => {
  const at = (fromMs: number) => ({ fromMs, lengthMs: 0, text: '', row: {} })
  const lanes = [
    { name: 'a', spans: [at(0), at(50), at(100)] },
    { name: 'b', spans: [at(40), at(90)] },
  ]
  expect([0, 1, 2].map((index) => findSpanInLane(lanes, index, 1))).toEqual([3, 3, 4])
  expect([3, 4].map((index) => findSpanInLane(lanes, index, -1))).toEqual([1, 2])
  expect([findSpanInLane(lanes, 0, -1), findSpanInLane(lanes, 4, 1)]).toEqual([undefined, undefined])
})
