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
    ['range=6h', { kind: 'last', hours: 6 }],
    ['range=7d', { kind: 'last', hours: 168 }],
    ['from=1000&to=2000', { kind: 'between', from: 1000, to: 2000 }],
    ['range=6h&from=1000&to=2000', { kind: 'between', from: 1000, to: 2000 }],
  ])('parses %s', (search, range) => expect(read(search)).toEqual(range))

  it.each(['', 'range=0h', 'range=6', 'range=-1h', 'range=9999d', 'from=2000&to=1000', 'from=1', 'from=a&to=b'])(
    'returns null for "%s"',
    (search) => expect(read(search)).toBeNull(),
  )

  it.each(rangePresets)('round-trips $short', ({ hours }) => {
    const written = Object.entries(writeRange({ kind: 'last', hours }, 5)).filter(([, value]) => value !== null)
    expect(read(new URLSearchParams(written as [string, string][]).toString())).toEqual({ kind: 'last', hours })
  })

  it('omits the default range of the page', () => {
    expect(writeRange({ kind: 'last', hours: 168 }, 168)).toEqual({ range: null, from: null, to: null })
    expect(writeRange({ kind: 'last', hours: 24 }, 168)).toEqual({ range: '24h', from: null, to: null })
  })
})

describe('bucket size of a range', () => {
  it.each(rangePresets)('yields 25 to 360 points for $short', ({ hours }) => {
    const minutes = {
      toStartOfMinute: 1,
      toStartOfFiveMinutes: 5,
      toStartOfTenMinutes: 10,
      toStartOfFifteenMinutes: 15,
      toStartOfHour: 60,
      toStartOfDay: 1440,
      toStartOfWeek: 10_080,
      toStartOfMonth: 43_200,
    }
    const range: TimeRange = { kind: 'last', hours }
    const points = getRangeSeconds(range) / 60 / minutes[selectInterval(range)]
    expect(points).toBeGreaterThanOrEqual(25)
    expect(points).toBeLessThanOrEqual(360)
  })

  it('queries hours for relative and instants for absolute ranges', () => {
    expect(toWindow({ kind: 'last', hours: 6 })).toEqual({ lastHours: 6 })
    expect(toWindow({ kind: 'between', from: 1, to: 2 })).toEqual({ from: 1, to: 2 })
  })
})
