import { expect, it } from 'vitest'
import { shiftToShownRange } from './compared-range.ts'

const series = (key: string, ...values: number[]) => ({ key, label: key, unit: 'count' as const, color: 0, values })

it('shifts the compared series onto the shown ones, by name and in order', () => {
  const now = { times: [100, 200], series: [series('b', 1, 2), series('a', 3, 4), series('new', 5, 6)] }
  const earlier = { times: [0, 100], series: [series('a', 7, 8), series('b', 9, 10), series('gone', 0, 0)] }
  expect(shiftToShownRange(now, earlier, 100)).toEqual({
    times: [100, 200],
    series: [series('b', 9, 10), series('a', 7, 8), { ...series('new'), values: [null, null] }],
  })
})
