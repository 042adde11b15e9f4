import type { TrendPoint } from '#proto/fingerprints.ts'

/** A period in which a pattern was slower than before. */
export interface Regression {
  fromMs: number
  /** The end of the period; null while it continues. */
  untilMs: number | null
  /** The baseline, which is the median p95 of the preceding buckets. `p95Ms` is the p95 of the first slow bucket. */
  usualMs: number
  p95Ms: number
}

/** Minimum ratio and difference between the p95 and the baseline at the start of a regression. */
const minRatio = 2
const minDifferenceMs = 20
/** A regression ends when the p95 drops below this multiple of the baseline. */
const endRatio = 1.5
/** Minimum and maximum number of buckets that form the baseline. */
const minBaselineBuckets = 5
const maxBaselineBuckets = 48
/** Minimum number of executions in the baseline and in the two slow buckets. Percentiles of fewer are unreliable. */
const minBaselineCalls = 20
const minSlowCalls = 10

type TrendBucket = Pick<TrendPoint, 'timeMs' | 'calls'> & { p95Ms: number }

/**
 * Returns the periods in which a pattern was slow, oldest first. A period starts with two consecutive buckets whose p95
 * is at least twice the baseline. A single slow bucket does not count.
 */
export const findRegressions = (trend: readonly TrendPoint[]): Regression[] => {
  const ran = trend.flatMap(({ timeMs, calls, p95Ms }): TrendBucket[] =>
    p95Ms === null ? [] : [{ timeMs, calls, p95Ms }],
  )
  const found: Regression[] = []
  const before: TrendBucket[] = []
  let present: Regression | null = null
  for (const [index, point] of ran.entries()) {
    const { timeMs, p95Ms } = point
    if (present && p95Ms < endRatio * present.usualMs) {
      present.untilMs = timeMs
      present = null
    }
    if (present) continue
    const usual = before.slice(-maxBaselineBuckets)
    const usualMs = computeMedian(usual.map((each) => each.p95Ms))
    if (
      usual.length >= minBaselineBuckets &&
      callsOf(usual) >= minBaselineCalls &&
      isSlow([point, ran[index + 1]], usualMs)
    ) {
      present = { fromMs: timeMs, untilMs: null, usualMs, p95Ms }
      found.push(present)
    } else before.push(point)
  }
  return found
}

const callsOf = (points: readonly TrendBucket[]): number => points.reduce((sum, { calls }) => sum + calls, 0)

const isSlow = (pair: readonly (TrendBucket | undefined)[], usualMs: number): boolean => {
  const both = pair.flatMap((point) => point ?? [])
  const areSlow = both.every(({ p95Ms }) => p95Ms >= minRatio * usualMs && p95Ms - usualMs >= minDifferenceMs)
  return both.length === pair.length && areSlow && callsOf(both) >= minSlowCalls
}

const computeMedian = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
