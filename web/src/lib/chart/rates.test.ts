import { describe, expect, it } from 'vitest'
import { ChartInfo } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import { describeChart, formatBucket } from './caption.ts'
import { toRates } from './rates.ts'

const minuteMs = 60_000
const chartOf = (columns: object[]) =>
  ChartInfo.parse({
    name: 'some-chart',
    topic: 'queries',
    title: 'Some chart',
    doc: 'It shows.',
    feature: 'METRICS',
    kind: 'line',
    columns: [{ name: 't', role: 'time', unit: 'none' }, ...columns],
  })
const queries = { name: 'n', role: 'value', label: 'Queries', per: 'minute' }
/** A range of 25 minutes that begins and ends in the middle of a bucket of ten minutes. */
const window = {
  interval: 'toStartOfTenMinutes' as const,
  fromMs: 5 * minuteMs,
  toMs: 30 * minuteMs,
  bucketSeconds: 600,
  lastMinutes: 25,
}
const statement: ChartData['statement'] = {
  queryId: 'q',
  durationMs: 1,
  rows: 1,
  rowsRead: 1,
  bytesRead: 1,
  host: 'one',
  clickhouseVersion: '26.1',
  sql: 'SELECT 1',
  timezone: null,
  incomplete: null,
}
const dataOf = (columns: object[], rows: ChartData['rows'], used: ChartData['window'] = window): ChartData => ({
  chart: chartOf(columns),
  rows,
  window: used,
  unavailable: null,
  statement: null,
})

describe('rates', () => {
  it('divide totals by the time that the range covers of each bucket', () => {
    const rows = [0, 10, 20].map((minute) => ({ t: minute * minuteMs, n: '50' }))
    const { chart, rows: rates } = toRates(dataOf([queries], rows))
    expect(rates.map(({ n }) => n)).toEqual([10, 5, 5])
    expect(chart.columns[1]).toMatchObject({ name: 'n', unit: 'per-minute' })
  })

  it('do not exaggerate a bucket that has just started', () => {
    const rows = [{ t: 20 * minuteMs, n: 5 }]
    const started = { ...window, toMs: 20 * minuteMs + 1_000 }
    expect(toRates(dataOf([queries], rows, started)).rows[0]).toMatchObject({ n: 1 })
  })

  it('are per second for rows and bytes, and keep missing values', () => {
    const columns = [
      { name: 'r', role: 'value', unit: 'rows', per: 'second' },
      { name: 'b', role: 'value', unit: 'bytes', per: 'second' },
    ]
    const { chart, rows } = toRates(dataOf(columns, [{ t: 10 * minuteMs, r: 600, b: null }]))
    expect(rows[0]).toMatchObject({ r: 1, b: null })
    expect(chart.columns.slice(1).map(({ unit }) => unit)).toEqual(['rows-per-second', 'bytes-per-second'])
  })

  it('leave rare events, gauges and answers without the length of a bucket unchanged', () => {
    const rare = dataOf(
      [
        { ...queries, per: 'bucket' },
        { name: 'g', role: 'value' },
      ],
      [{ t: 0, n: 3, g: 4 }],
    )
    expect(toRates(rare)).toBe(rare)
    const old = dataOf([queries], [{ t: 0, n: 3 }], { interval: 'toStartOfTenMinutes', fromMs: 0, toMs: 1 })
    expect(toRates(old)).toBe(old)
  })
})

describe('the caption of a chart', () => {
  const caption = (columns: object[], used: ChartData['window'] = window) =>
    describeChart(toRates(dataOf(columns, [], used)), 'UTC')

  it('states unit, range and bucket', () => {
    expect(caption([queries])).toBe('queries per minute · last 25 min · 10 min buckets')
  })

  it('states a bucket of the length that the rate has', () => {
    const minutely = { ...window, bucketSeconds: 60, lastMinutes: 5 }
    expect(caption([queries], minutely)).toBe('queries per minute · last 5 min · 1 min buckets')
  })

  it('states the bucket that rare events are counted in', () => {
    expect(caption([{ ...queries, label: 'Slow queries', per: 'bucket' }])).toBe(
      'slow queries per 10 min · last 25 min',
    )
    const daily = { ...window, bucketSeconds: 86_400, lastMinutes: 43_200 }
    expect(caption([{ ...queries, label: 'OOM kills', per: 'bucket' }], daily)).toBe('OOM kills per day · last 30 d')
  })

  it('names what is counted, by the title if the series count different things', () => {
    const series = { name: 'kind', role: 'series' }
    expect(caption([series, queries])).toMatch(/^queries per minute · /)
    expect(caption([queries, { ...queries, name: 'm', label: 'Failed' }])).toMatch(/^some chart per minute · /)
    const hourly = { ...window, bucketSeconds: 3_600 }
    expect(
      caption(
        [
          { ...queries, per: 'bucket' },
          { ...queries, name: 'm' },
        ],
        hourly,
      ),
    ).toBe('some chart per hour · last 25 min')
  })

  it('states the instants of an absolute range, and charts of the current state as such', () => {
    const fixed = { ...window, lastMinutes: null }
    expect(caption([queries], fixed)).toContain('01 Jan 00:05 – 00:30')
    expect(caption([queries], { ...fixed, toMs: 1_500 * minuteMs })).toContain('01 Jan 00:05 – 02 Jan 01:00')
    const bytes = [{ name: 'b', role: 'value', unit: 'bytes' }]
    expect(caption(bytes, null)).toBe('bytes')
    expect(describeChart({ ...dataOf(bytes, [], null), statement }, 'UTC')).toBe('bytes · now')
  })

  it('states which part is from the history, and what was not recorded', () => {
    const hour = 60 * minuteMs
    const history = { reason: 'log-start' as const, fromMs: 0, toMs: 9 * hour, lastSampleMs: 9 * hour }
    const describe = (gaps: { fromMs: number; toMs: number }[]) =>
      describeChart({ ...dataOf([queries], [], null), history: { ...history, gaps } }, 'UTC')
    expect(describe([])).toMatch(/from the history before [^·]*09:00$/)
    const gap = { fromMs: hour, toMs: 3 * hour }
    expect(describe([gap])).toMatch(/ · not recorded: [^·]*01:00 – 03:00$/)
    expect(describe([gap, gap, gap])).toMatch(/03:00 and 2 more$/)
  })

  it.each([
    [60, '1 min'],
    [900, '15 min'],
    [3_600, '1 h'],
    [86_400, '1 day'],
    [604_800, '1 week'],
    [2_629_746, '1 month'],
  ])('formats a bucket of %d seconds', (seconds, text) => expect(formatBucket(seconds)).toBe(text))
})
