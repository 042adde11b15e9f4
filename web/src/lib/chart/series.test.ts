import { describe, expect, it } from 'vitest'
import { ChartInfo } from '#proto/catalogue.ts'
import { buildBarPath, findSeriesAt, getValueExtent, buildLinePath, toLayers } from './layers.ts'
import { toRankList } from './ranks.ts'
import {
  getBucketMs,
  findLatestCompleteBucket,
  maxSeries,
  findNearestIndex,
  readNumber,
  toTimeSeries,
} from './series.ts'
import { summarizeRankList, summarizeSeries } from './summary.ts'
import { computeTimeTicks, computeValueTicks } from './ticks.ts'

const chart = (columns: object[], kind = 'line') =>
  ChartInfo.parse({
    name: 'some-chart',
    topic: 'queries',
    title: 'Some chart',
    doc: 'It shows.',
    feature: 'METRICS',
    kind,
    columns,
  })
const time = { name: 't', role: 'time', unit: 'none' }
const minuteMs = 60_000

describe('toTimeSeries', () => {
  it('creates a series per value column', () => {
    const data = toTimeSeries(
      chart([
        time,
        { name: 'p50', role: 'value', unit: 'milliseconds' },
        { name: 'p99', role: 'value', label: '99th' },
      ]),
      [
        { t: minuteMs, p50: 1, p99: '9' },
        { t: 0, p50: 2, p99: null },
      ],
    )
    expect(data.times).toEqual([0, minuteMs])
    expect(data.series).toEqual([
      { key: 'p50', label: 'p50', unit: 'milliseconds', color: 0, values: [2, 1] },
      { key: 'p99', label: '99th', unit: 'count', color: expect.any(Number), values: [null, 9] },
    ])
  })

  it('creates a series per name, largest first, with null for missing values', () => {
    const data = toTimeSeries(chart([time, { name: 'user', role: 'series' }, { name: 'n', role: 'value' }]), [
      { t: 0, user: 'a', n: 1 },
      { t: 0, user: 'b', n: 5 },
      { t: minuteMs, user: 'b', n: 5 },
    ])
    expect(data.series.map(({ key, values }) => [key, values])).toEqual([
      ['b', [5, 5]],
      ['a', [1, null]],
    ])
  })

  it('uses the first value column of a name', () => {
    const columns = [time, { name: 'table', role: 'series' }, { name: 'parts', role: 'value' }]
    const data = toTimeSeries(chart([...columns, { name: 'rows', role: 'value', unit: 'rows' }]), [
      { t: 0, table: 'a', parts: 2, rows: 500 },
    ])
    expect(data.series).toEqual([{ key: 'a', label: 'a', unit: 'count', color: expect.any(Number), values: [2] }])
  })

  it('sums up the smallest series beyond the number of colours', () => {
    const rows = Array.from({ length: 20 }, (_, index) => ({ t: 0, user: `u${index}`, n: index + 1 }))
    const { series } = toTimeSeries(chart([time, { name: 'user', role: 'series' }, { name: 'n', role: 'value' }]), rows)
    expect(series).toHaveLength(maxSeries)
    expect(series.at(-1)?.label).toBe('13 others')
    expect(series.reduce((sum, each) => sum + (each.values[0] ?? 0), 0)).toBe(210)
  })

  it('parses numbers as hosts send them', () => {
    expect(['18446744073709551615', '1.5', '', null, 'x'].map(readNumber)).toEqual([
      18446744073709552000,
      1.5,
      null,
      null,
      null,
    ])
  })

  it.each([
    [-5, 0],
    [4, 0],
    [6, 1],
    [24, 2],
    [900, 3],
  ])('finds the instant nearest to %s', (timeMs, position) =>
    expect(findNearestIndex([0, 10, 20, 30], timeMs)).toBe(position),
  )

  it('finds no instant in an empty chart', () => expect(findNearestIndex([], 5)).toBe(-1))

  it('uses the smallest step as the bucket', () => expect(getBucketMs([0, 60, 120, 300])).toBe(60))
})

describe('layers', () => {
  const data = toTimeSeries(chart([time, { name: 'a', role: 'value' }, { name: 'b', role: 'value' }]), [
    { t: 0, a: 1, b: 2 },
    { t: 1, a: null, b: 3 },
    { t: 2, a: 4, b: 5 },
  ])

  it('are stacked on each other', () => {
    const layers = toLayers(data, true, () => true)
    expect(layers[1]?.marks.map(({ base, top }) => [base, top])).toEqual([
      [1, 3],
      [0, 3],
      [4, 9],
    ])
    expect(getValueExtent(layers)).toEqual([0, 9])
  })

  it('leave a gap for missing values', () => {
    const [first] = toLayers(data, false, () => true)
    expect(
      buildLinePath(
        first?.marks ?? [],
        (x) => x,
        (y) => y,
      ),
    ).toBe('M0,1ZM2,4Z')
  })

  it('draw bars as one path, without missing or zero values', () => {
    const marks = [
      { timeMs: 1, base: 0, top: 5 },
      { timeMs: 2, base: 5, top: 5 },
      { timeMs: 3, base: 0, top: null },
      { timeMs: 4, base: 2, top: 3 },
    ]
    const same = (value: number) => value
    expect(buildBarPath(marks, same, same, 0.5)).toBe('M1 5h0.5V0h-0.5zM4 3h0.5V2h-0.5z')
  })

  it('keep their colour when another series is hidden', () => {
    const both = toLayers(data, false, () => true).map((layer) => layer.color)
    expect(new Set(both).size).toBe(2)
    expect(toLayers(data, false, (key) => key === 'b').map((layer) => layer.color)).toEqual(both.slice(1))
  })

  it('find the series at a height: the stacked area, or the nearest line within reach', () => {
    const down = (value: number) => 100 - value
    const [first] = toLayers(data, true, () => true)
    const top = first?.marks[0]?.top ?? 0
    expect(
      findSeriesAt(
        toLayers(data, true, () => true),
        0,
        down(top / 2),
        true,
        down,
      ),
    ).toBe(first?.key)
    expect(
      findSeriesAt(
        toLayers(data, true, () => true),
        0,
        0,
        true,
        down,
      ),
    ).toBeNull()
    expect(
      findSeriesAt(
        toLayers(data, false, () => true),
        0,
        down(top) + 2,
        false,
        down,
      ),
    ).toBe(first?.key)
    expect(
      findSeriesAt(
        toLayers(data, false, () => true),
        0,
        0,
        false,
        down,
      ),
    ).toBeNull()
  })
})

describe('ticks', () => {
  it.each([
    [10, 'count'],
    [3, 'count'],
    [0.03, 'none'],
    [3 * 1024 ** 3, 'bytes'],
  ] as const)('include the highest value %s %s', (highest, unit) => {
    const ticks = computeValueTicks(0, highest, 4, unit)
    expect(ticks[0]).toBe(0)
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(highest)
    expect(ticks.length).toBeLessThanOrEqual(6)
  })

  it('use clock units for long durations', () => {
    expect(computeValueTicks(0, 1_140, 4, 'seconds')).toEqual([0, 300, 600, 900, 1_200])
    expect(computeValueTicks(0, 90, 4, 'seconds')).toEqual([0, 25, 50, 75, 100])
  })

  it('are whole for counts', () => expect(computeValueTicks(0, 2, 4, 'count').every(Number.isInteger)).toBe(true))

  it('form an axis for zeros', () => expect(computeValueTicks(0, 0, 4, 'count')).toEqual([0, 1]))

  it('use round hours in the zone and label midnight with the date', () => {
    const from = Date.parse('2026-11-19T18:30:00Z')
    const ticks = computeTimeTicks(from, from + 6 * 60 * minuteMs, 6, 'Asia/Kolkata')
    expect(ticks.map((tick) => tick.label)).toEqual(['20 Nov', '01:00', '02:00', '03:00', '04:00', '05:00', '06:00'])
  })

  it('show seconds below one minute', () => {
    const from = Date.parse('2026-11-20T10:00:57Z')
    expect(computeTimeTicks(from, from + 4_000, 3, 'UTC').map((tick) => tick.label)).toEqual(['10:00:58', '10:01:00'])
  })
})

describe('ranks', () => {
  const info = chart(
    [
      { name: 'db', role: 'label' },
      { name: 'size', role: 'value', unit: 'bytes' },
      { name: 'n', role: 'value', unit: 'rows' },
    ],
    'horizontal-bar',
  )

  it('are relative to the largest and include further values', () => {
    const { ranks } = toRankList(info, [
      { db: 'a', size: 4096, n: 1 },
      { db: 'b', size: '1024', n: 2 },
    ])
    expect(ranks.map(({ label, share }) => [label, share])).toEqual([
      ['a', 1],
      ['b', 0.25],
    ])
    expect(ranks[0]?.more).toEqual([{ label: 'n', value: 1, unit: 'rows' }])
  })

  it('are summarized in a sentence', () => {
    expect(summarizeRankList('Disk', toRankList(info, [{ db: 'a', size: 4096 }]))).toBe('Disk: a 4 KiB')
  })
})

describe('chart summary', () => {
  it('contains time range, latest, lowest and highest value', () => {
    const data = toTimeSeries(chart([time, { name: 'n', role: 'value', label: 'Queries' }]), [
      { t: 0, n: 3 },
      { t: minuteMs, n: 1 },
      { t: 2 * minuteMs, n: 2 },
    ])
    expect(summarizeSeries('Queries', data, 'UTC')).toBe(
      'Queries, 01 Jan 00:00 to 01 Jan 00:02: Queries now 2, between 1 and 3',
    )
  })
})

it.each([
  [[0, 60, 120], 150, 1],
  [[0, 60, 120], 180, 2],
  [[0, 60, 120], 1_000, 2],
  [[0, 60, 120], 30, 2],
  [[0], 30, 0],
  [[], 30, -1],
])('the latest complete bucket of %j at %d has index %d', (times, untilMs, expected) =>
  expect(findLatestCompleteBucket(times, untilMs)).toBe(expected),
)
