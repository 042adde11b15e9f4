import { describe, expect, it } from 'vitest'
import {
  selectInterval,
  rangePresets,
  readRange,
  getRangeSeconds,
  toWindow,
  writeRange,
  type TimeRange,
} from './range.ts'

const read = (search: string): TimeRange | null => readRange(new URLSearchParams(search))

describe('time range in the URL', () => {
  it.each([
    ['range=5m', { kind: 'last', minutes: 5 }],
    ['range=6h', { kind: 'last', minutes: 360 }],
    ['range=7d', { kind: 'last', minutes: 10_080 }],
    ['from=1000&to=2000', { kind: 'between', from: 1000, to: 2000 }],
    ['range=6h&from=1000&to=2000', { kind: 'between', from: 1000, to: 2000 }],
  ])('parses %s', (search, range) => expect(read(search)).toEqual(range))

  it.each([
    '',
    'range=0h',
    'range=0m',
    'range=5s',
    'range=6',
    'range=-1h',
    'range=9999d',
    'from=2000&to=1000',
    'from=1',
    'from=a&to=b',
  ])('returns null for "%s"', (search) => expect(read(search)).toBeNull())

  it.each(rangePresets)('round-trips $short', ({ minutes }) => {
    const written = Object.entries(writeRange({ kind: 'last', minutes }, 7)).filter(([, value]) => value !== null)
    expect(read(new URLSearchParams(written as [string, string][]).toString())).toEqual({ kind: 'last', minutes })
  })

  it('omits the default range of the page', () => {
    expect(writeRange({ kind: 'last', minutes: 10_080 }, 10_080)).toEqual({ range: null, from: null, to: null })
    expect(writeRange({ kind: 'last', minutes: 1440 }, 10_080)).toEqual({ range: '24h', from: null, to: null })
  })
})

describe('bucket size of a range', () => {
  it.each(rangePresets)('yields at most 360 points for $short', ({ minutes }) => {
    const bucketMinutes = {
      toStartOfFiveSeconds: 5 / 60,
      toStartOfTenSeconds: 10 / 60,
      toStartOfFifteenSeconds: 15 / 60,
      toStartOfThirtySeconds: 30 / 60,
      toStartOfMinute: 1,
      toStartOfFiveMinutes: 5,
      toStartOfTenMinutes: 10,
      toStartOfFifteenMinutes: 15,
      toStartOfHour: 60,
      toStartOfDay: 1440,
      toStartOfWeek: 10_080,
      toStartOfMonth: 43_200,
    }
    const range: TimeRange = { kind: 'last', minutes }
    const points = getRangeSeconds(range) / 60 / bucketMinutes[selectInterval(range)]
    expect(points).toBeGreaterThanOrEqual(Math.min(25, minutes))
    expect(points).toBeLessThanOrEqual(360)
  })

  it('queries minutes for relative and instants for absolute ranges', () => {
    expect(toWindow({ kind: 'last', minutes: 360 })).toEqual({ lastMinutes: 360 })
    expect(toWindow({ kind: 'between', from: 1, to: 2 })).toEqual({ from: 1, to: 2 })
  })
})
