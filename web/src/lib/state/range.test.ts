import { describe, expect, it } from 'vitest'
import { intervalOf, presets, readRange, spanSeconds, toWindow, writeRange, type Range } from './range.ts'

const read = (search: string): Range | null => readRange(new URLSearchParams(search))

describe('the time range in the URL', () => {
  it.each([
    ['range=6h', { kind: 'last', hours: 6 }],
    ['range=7d', { kind: 'last', hours: 168 }],
    ['from=1000&to=2000', { kind: 'between', from: 1000, to: 2000 }],
    ['range=6h&from=1000&to=2000', { kind: 'between', from: 1000, to: 2000 }],
  ])('reads %s', (search, range) => expect(read(search)).toEqual(range))

  it.each(['', 'range=0h', 'range=6', 'range=-1h', 'range=9999d', 'from=2000&to=1000', 'from=1', 'from=a&to=b'])(
    'finds none in "%s"',
    (search) => expect(read(search)).toBeNull(),
  )

  it.each(presets)('reads $short as it writes it', ({ hours }) => {
    const written = Object.entries(writeRange({ kind: 'last', hours }, 5)).filter(([, value]) => value !== null)
    expect(read(new URLSearchParams(written as [string, string][]).toString())).toEqual({ kind: 'last', hours })
  })

  it('leaves out of the URL what is usual where the reader is', () => {
    expect(writeRange({ kind: 'last', hours: 168 }, 168)).toEqual({ range: null, from: null, to: null })
    expect(writeRange({ kind: 'last', hours: 24 }, 168)).toEqual({ range: '24h', from: null, to: null })
  })
})

describe('the bucket of a range', () => {
  it.each(presets)('gives $short between 25 and 360 points', ({ hours }) => {
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
    const range: Range = { kind: 'last', hours }
    const points = spanSeconds(range) / 60 / minutes[intervalOf(range)]
    expect(points).toBeGreaterThanOrEqual(25)
    expect(points).toBeLessThanOrEqual(360)
  })

  it('asks for the hours of a running range and for the instants of a fixed one', () => {
    expect(toWindow({ kind: 'last', hours: 6 })).toEqual({ lastHours: 6 })
    expect(toWindow({ kind: 'between', from: 1, to: 2 })).toEqual({ from: 1, to: 2 })
  })
})
