import { expect, it } from 'vitest'
import { addGaps } from './gaps.ts'

const series = (times: readonly number[]) => ({
  times,
  series: [{ key: 'a', label: 'a', unit: 'none' as const, color: 0, values: times.map((_, index) => index) }],
})

it('breaks the line where buckets are missing', () => {
  const { times, series: found } = addGaps(series([0, 60, 120, 300, 360]))
  expect(times).toEqual([0, 60, 120, 180, 300, 360])
  expect(found[0]?.values).toEqual([0, 1, 2, null, 3, 4])
})

it('knows gaps from the length of a bucket where most buckets are missing', () => {
  expect(addGaps(series([0, 60, 180, 420]), 60).series[0]?.values).toEqual([0, 1, null, 2, null, 3])
})

it.each([
  ['regular instants', [0, 60, 120, 180]],
  ['events at irregular distances', [0, 7, 60, 95, 300]],
  ['months, which differ in length', [0, 31, 59, 90, 120]],
  ['one instant', [60]],
  ['none', []],
])('keeps %s', (_, times) => {
  const given = series(times)
  expect(addGaps(given)).toEqual(given)
})
