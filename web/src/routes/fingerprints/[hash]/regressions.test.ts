import { describe, expect, it } from 'vitest'
import type { TrendPoint } from '#proto/fingerprints.ts'
import { findRegressions } from './regressions.ts'

/** Returns a trend with these percentiles, one bucket per minute. Null means that the bucket has no executions. */
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

describe('regression', () => {
  it.each([
    ['an ongoing regression', [...steady, 300, 320], [[5, null]]],
    ['a regression that ends', [...steady, 300, 320, 100, 100], [[5, 7]]],
    ['a regression with a gap', [...steady, 300, null, 320, null, 310], [[5, null]]],
    [
      'twice',
      [...steady, 300, 320, 100, 400, 400],
      [
        [5, 7],
        [8, null],
      ],
    ],
  ])('finds the start of %s', (_, p95, expected) => {
    const found = findRegressions(trend(p95)).map(({ fromMs, untilMs }) => [
      fromMs / 60_000,
      untilMs && untilMs / 60_000,
    ])
    expect(found).toEqual(expected)
  })

  it.each([
    ['one slow execution', [...steady, 900, 100, 100]],
    ['a slow last bucket', [...steady, 900]],
    ['a negligible difference', [1, 1, 1, 1, 1, 8, 9]],
    ['too little history', [100, 900, 900]],
    ['buckets without executions', [null, null]],
  ])('ignores %s', (_, p95) => expect(findRegressions(trend(p95))).toEqual([]))

  it('ignores buckets with too few executions', () => {
    expect(findRegressions(trend([...steady, 300, 320], 3))).toEqual([])
    expect(findRegressions(trend([...steady, 300, 320], 5))).toHaveLength(1)
  })

  it('returns baseline and current percentile', () => {
    expect(findRegressions(trend([...steady, 300, 320]))).toMatchObject([{ usualMs: 100, p95Ms: 300 }])
  })
})
