import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { truncateToSize } from './truncate-to-size.ts'

describe('shrinking a value', () => {
  it('returns a small value unchanged', () => {
    const value = { rows: [[1, 'a']] }
    expect(truncateToSize(value, 100)).toEqual({ value, cut: false })
  })

  it('truncates arrays and strings', () => {
    const { value, cut } = truncateToSize(
      { rows: Array.from({ length: 1_000 }, (_, row) => row), note: 'x'.repeat(5_000) },
      1_000,
    )
    expect(cut).toBe(true)
    expect(value).toMatchObject({ note: expect.stringMatching(/^x+…$/) })
    expect(JSON.stringify(value)).toMatch(/^\{"rows":\[0,1,2,/)
  })

  it('always fits into the limit', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 64, max: 2_000 }), (value, bytes) => {
        expect(Buffer.byteLength(JSON.stringify(truncateToSize(value, bytes).value))).toBeLessThanOrEqual(bytes)
      }),
    )
  })
})
