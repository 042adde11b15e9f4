import { expect, it } from 'vitest'
import { defaultRetryPlan, getTargetPauseMs, getRetryDelayMs } from './retry.ts'

it.each([
  [1, undefined, 0.5, 2_000],
  [2, undefined, 0.5, 10_000],
  [3, undefined, 0.5, 60_000],
  [4, undefined, 0.5, 300_000],
  [5, undefined, 0.5, 900_000],
  [9, undefined, 0.5, 900_000],
  [0, undefined, 0.5, 2_000],
  [1, undefined, 0, 1_600],
  [1, undefined, 0.999_999_999, 2_400],
  [1, 7_000, 0.5, 7_000],
  [5, 7_000, 0.5, 900_000],
  [1, 7_200_000, 0.5, 1_800_000],
])(
  'after %s failures, a requested wait of %s ms and chance %s it waits %s ms',
  (failures, requestedMs, chance, expected) => {
    expect(getRetryDelayMs(defaultRetryPlan, failures, requestedMs, chance)).toBeCloseTo(expected, 0)
  },
)

it.each([
  [1, undefined, 2_000],
  [3, undefined, 60_000],
  [9, undefined, 60_000],
  [9, 300_000, 300_000],
])(
  'after %s consecutive failures and a requested wait of %s ms, the target pauses %s ms',
  (failures, requestedMs, expected) => {
    expect(getTargetPauseMs(defaultRetryPlan, failures, requestedMs, 0.5)).toBeCloseTo(expected, 0)
  },
)
