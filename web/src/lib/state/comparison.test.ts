import { describe, expect, it } from 'vitest'
import { computeComparisonOffsetMs, readComparison, writeComparison, type Comparison } from './comparison.ts'

const hourMs = 3_600_000
const read = (search: string) => readComparison(new URLSearchParams(search))

describe('comparison in the URL', () => {
  it.each<Comparison>(['previous', 'day', 'week', 1_764_288_000])('round-trips %s', (comparison) => {
    expect(read(`compare=${writeComparison(comparison)}`)).toBe(comparison)
  })

  it.each(['', 'compare=', 'compare=0', 'compare=-5', 'compare=month', 'compare=99999999999', 'compare=1764288000.5'])(
    'is off for "%s"',
    (search) => expect(read(search)).toBeNull(),
  )

  it('is removed when it ends', () => expect(writeComparison(null)).toBeNull())
})

describe('distance of the compared range', () => {
  const toMs = Date.UTC(2026, 10, 20, 12)
  const range = { fromMs: toMs - hourMs, toMs, bucketMs: 60_000 }

  it('is the length of the range for the previous period', () => {
    expect(computeComparisonOffsetMs('previous', range, 'UTC')).toBe(hourMs)
  })

  it('is a multiple of a bucket, so that buckets coincide', () => {
    const odd = { ...range, fromMs: toMs - 90_000, bucketMs: 60_000 }
    expect(computeComparisonOffsetMs('previous', odd, 'UTC')).toBe(120_000)
    expect(computeComparisonOffsetMs(range.fromMs / 1_000 - 100, range, 'UTC')).toBe(120_000)
  })

  it('is a day or a week', () => {
    expect(computeComparisonOffsetMs('day', range, 'UTC')).toBe(24 * hourMs)
    expect(computeComparisonOffsetMs('week', range, 'UTC')).toBe(7 * 24 * hourMs)
  })

  it('is the same time of day across a change of the clock', () => {
    const afterChange = Date.UTC(2026, 9, 25, 12)
    const berlin = { fromMs: afterChange - hourMs, toMs: afterChange, bucketMs: 60_000 }
    expect(computeComparisonOffsetMs('day', berlin, 'Europe/Berlin')).toBe(25 * hourMs)
  })

  it('is negative for a later range', () => {
    expect(computeComparisonOffsetMs(toMs / 1_000, { ...range, bucketMs: 0 }, 'UTC')).toBe(-hourMs)
  })
})
