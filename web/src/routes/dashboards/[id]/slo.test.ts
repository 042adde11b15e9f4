import { describe, expect, it } from 'vitest'
import { computeSloStatus, readSloRows } from './slo.ts'

describe('an SLO', () => {
  it.each([
    [{ good: 9_995, total: 10_000 }, 99.9, { share: 99.95, budget: 50, bad: 5 }],
    [{ good: 9_980, total: 10_000 }, 99.9, { share: 99.8, budget: -100, bad: 20 }],
    [{ good: 10, total: 10 }, 99, { share: 100, budget: 100, bad: 0 }],
    [{ good: 0, total: 0 }, 99, { share: null, budget: null, bad: 0 }],
  ])('computes share and error budget of %o', (counts, objective, expected) => {
    const { share, budget, bad } = computeSloStatus(counts, objective)
    expect({ share, budget: budget === null ? null : Math.round(budget), bad }).toEqual(expected)
  })

  it('sums the rows of its statement', () => {
    const columns = ['time', 'good', 'total'].map((name) => ({ name, type: 'UInt64' }))
    const rows = [
      ['a', '1', '2'],
      ['b', '3', '4'],
    ]
    expect(readSloRows({ columns, rows })).toEqual({ good: 4, total: 6 })
    expect(readSloRows({ columns: columns.slice(0, 2), rows: [] })).toBeUndefined()
  })
})
