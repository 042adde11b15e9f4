import { expect, it } from 'vitest'
import { averageOf, formatDifference } from './difference.ts'

it.each([
  [120, 100, '+20 (+20%)'],
  [80, 100, '−20 (−20%)'],
  [100, 100, '±0'],
  [5, 0, '+5'],
  [0, 5, '−5 (−100%)'],
  [500, 10, '+490 (+50×)'],
  [null, 5, ''],
  [5, null, ''],
])('formats %s compared with %s', (value, earlier, text) =>
  expect(formatDifference(value, earlier, 'count')).toBe(text),
)

it('formats differences in their unit, and those of percentages without a share', () => {
  expect(formatDifference(3, 1, 'per-minute')).toBe('+2/min (+200%)')
  expect(formatDifference(2_000, 1_000, 'milliseconds')).toBe('+1 s (+100%)')
  expect(formatDifference(30, 20, 'percent')).toBe('+10%')
})

it('averages the values that are present', () => {
  expect(averageOf([1, null, 3])).toBe(2)
  expect(averageOf([null])).toBeNull()
})
