import { describe, expect, it } from 'vitest'
import type { TrendPoint } from '#proto/fingerprints.ts'
import { regressions } from './regressions.ts'

/** A trend of these percentiles, a bucket a minute; nothing ran where there is none. */
const trend = (p95: readonly (number | null)[], calls = 8): TrendPoint[] =>
  p95.map((p95Ms, index) => ({
    timeMs: index * 60_000,
    calls: p95Ms === null ? 0 : calls,
    errors: 0,
    totalMs: 0,
    p50Ms: p95Ms,
    p95Ms,
    p99Ms: p95Ms,
    readRows: 0,
    readBytes: 0,
    peakMemoryBytes: 0,
  }))

const steady = [100, 110, 90, 100, 105]

describe('a regression', () => {
  it.each([
    ['that lasts', [...steady, 300, 320], [[5, null]]],
    ['that ends', [...steady, 300, 320, 100, 100], [[5, 7]]],
    ['with a pause in it', [...steady, 300, null, 320, null, 310], [[5, null]]],
    [
      'twice',
      [...steady, 300, 320, 100, 400, 400],
      [
        [5, 7],
        [8, null],
      ],
    ],
  ])('%s is found where it begins', (_, p95, expected) => {
    const found = regressions(trend(p95)).map(({ fromMs, untilMs }) => [fromMs / 60_000, untilMs && untilMs / 60_000])
    expect(found).toEqual(expected)
  })

  it.each([
    ['one slow execution', [...steady, 900, 100, 100]],
    ['the last bucket alone, which may be one too', [...steady, 900]],
    ['a difference nobody notices', [1, 1, 1, 1, 1, 8, 9]],
    ['too little history', [100, 900, 900]],
    ['nothing that ran', [null, null]],
  ])('is not %s', (_, p95) => expect(regressions(trend(p95))).toEqual([]))

  it('is not found where so few ran that it may be chance', () => {
    expect(regressions(trend([...steady, 300, 320], 3))).toEqual([])
    expect(regressions(trend([...steady, 300, 320], 5))).toHaveLength(1)
  })

  it('says what was usual and what is now', () => {
    expect(regressions(trend([...steady, 300, 320]))).toMatchObject([{ usualMs: 100, p95Ms: 300 }])
  })
})
