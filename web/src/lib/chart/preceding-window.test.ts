import { expect, it } from 'vitest'
import { shiftToCurrentWindow } from './preceding-window.ts'

const series = (key: string, ...values: number[]) => ({ key, label: key, unit: 'count' as const, values })

it('shifts the preceding series onto the current ones, by name and in order', () => {
  const now = { times: [100, 200], series: [series('b', 1, 2), series('a', 3, 4), series('new', 5, 6)] }
  const earlier = { times: [0, 100], series: [series('a', 7, 8), series('b', 9, 10), series('gone', 0, 0)] }
  expect(shiftToCurrentWindow(now, earlier, 100)).toEqual({
    times: [100, 200],
    series: [series('b', 9, 10), series('a', 7, 8), { ...series('new'), values: [null, null] }],
  })
})
