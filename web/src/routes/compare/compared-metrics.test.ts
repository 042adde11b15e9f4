import { describe, expect, it } from 'vitest'
import { sortByRatio, computeSpreadRatio } from './compared-metrics.ts'

const figuresOf = (p95Ms: number) => ({
  calls: 1,
  totalMs: p95Ms,
  averageMs: p95Ms,
  p95Ms,
  errors: 0,
  cpuMs: 0,
  readRows: 0,
  readBytes: 0,
  peakMemoryBytes: 0,
})
const pattern = (hash: string, ...p95: (number | null)[]) => ({
  hash,
  query: '',
  kind: 'Select',
  values: Object.fromEntries(p95.map((each, index) => [index, each === null ? null : figuresOf(each)])),
})

describe('difference between hosts', () => {
  it.each([
    [[10, 40], 4],
    [[10, null, 20], 2],
    [[10, null], null],
    [[0, 10], Infinity],
    [[0, 0], null],
  ])('for %j is %s', (p95, spread) => expect(computeSpreadRatio(pattern('a', ...p95), 'p95Ms')).toBe(spread))

  it('sorts the patterns by their ratio, and equal ratios by the difference', () => {
    const patterns = [
      pattern('alone', 500, null),
      pattern('much', 100, 190),
      pattern('small', 1, 20),
      pattern('large', 10, 200),
      pattern('few', 0, 3),
      pattern('many', 0, 7),
    ]
    const sorted = sortByRatio(patterns, 'p95Ms').map(({ hash }) => hash)
    expect(sorted).toEqual(['many', 'few', 'large', 'small', 'much', 'alone'])
  })
})
