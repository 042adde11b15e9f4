import { describe, expect, it } from 'vitest'
import type { Forecast } from '#proto/forecasts.ts'
import { addForecast, emptyTrackRecord, scoreForecasts, summarizeRecord, type TrackRecord } from './track-record.ts'

const dayMs = 86_400_000
const forecast: Forecast = {
  what: 'disk',
  subject: 'default',
  unit: 'bytes',
  now: 100,
  limit: 1_000,
  perDay: 10,
  spread: 1,
  days: null,
  forecastError: null,
  summary: '',
  projections: [
    { days: 1, value: 110, low: 105, high: 115 },
    { days: 7, value: 170, low: 160, high: 180 },
  ],
}

/** Returns the record of forecasts whose actual values were these; each forecast was 100, from 90 to 110. */
const recordOf = (...actual: number[]): TrackRecord => ({
  waiting: [],
  scored: actual.map((value, day) => ({
    madeAtMs: day * dayMs,
    dueAtMs: (day + 1) * dayMs,
    value: 100,
    low: 90,
    high: 110,
    actual: value,
  })),
})

describe('a track record', () => {
  it('scores each forecast when its day has come', () => {
    const stored = addForecast(emptyTrackRecord, forecast, 0)
    expect(stored.waiting.map(({ dueAtMs, value }) => [dueAtMs / dayMs, value])).toEqual([
      [1, 110],
      [7, 170],
    ])
    expect(scoreForecasts(stored, () => 1, dayMs - 1)).toEqual(stored)
    const read: number[] = []
    const first = scoreForecasts(stored, (atMs) => (read.push(atMs), 112), 2 * dayMs)
    expect(read).toEqual([dayMs])
    expect(first.scored).toMatchObject([{ value: 110, actual: 112 }])
    expect(first.waiting).toHaveLength(1)
    expect(scoreForecasts(first, () => 150, 7 * dayMs)).toMatchObject({
      waiting: [],
      scored: [{ actual: 112 }, { actual: 150 }],
    })
  })

  it('waits for an unknown actual value until no history contains it, and forgets old scores', () => {
    const stored = addForecast(emptyTrackRecord, forecast, 0)
    expect(scoreForecasts(stored, () => undefined, 14 * dayMs).waiting).toHaveLength(2)
    expect(scoreForecasts(stored, () => undefined, 30 * dayMs)).toEqual(emptyTrackRecord)
    expect(scoreForecasts(recordOf(100, 100), () => undefined, 92 * dayMs).scored).toEqual([])
  })

  it('states the mean error and the coverage of the interval', () => {
    expect(summarizeRecord(recordOf(100, 105, 95, 100, 125))).toEqual({
      scored: 5,
      waiting: 0,
      mape: (5 / 105 + 5 / 95 + 25 / 125) / 5,
      coverage: 0.8,
      isPoor: false,
      summary: '5 scored forecasts: mean error 6 %, 80 % within the interval',
    })
  })

  it.each([
    ['no forecast', emptyTrackRecord, 'no track record yet: no forecast is stored'],
    [
      'waiting ones',
      addForecast(emptyTrackRecord, forecast, 0),
      'no track record yet: 2 stored forecasts have not reached their day',
    ],
    [
      'too few',
      recordOf(300, 300),
      '2 scored forecasts: mean error 66.7 %, 0 % within the interval; too few for a conclusion',
    ],
  ])('with %s draws no conclusion', (_what, record, summary) => {
    expect(summarizeRecord(record)).toMatchObject({ isPoor: false, summary })
  })

  it.each([
    ['the mean error', recordOf(80, 80, 100, 100, 100, 80, 80, 100, 110, 90), 'the mean error is above 10 %'],
    ['the interval', recordOf(111, 111, 100, 111, 100), 'fewer than 70 % of the actual values are within the interval'],
    ['an actual value of 0', recordOf(0, 0, 0, 0, 0), 'mean error 100 %'],
  ])('is poor because of %s', (_what, record, reason) => {
    const { isPoor, summary } = summarizeRecord(record)
    expect(isPoor).toBe(true)
    expect(summary).toMatch(/^unreliable, /)
    expect(summary).toContain(reason)
  })
})
