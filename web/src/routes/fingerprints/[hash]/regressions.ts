import type { TrendPoint } from '#proto/fingerprints.ts'

/** A stretch in which a pattern took longer than before. */
export interface Regression {
  fromMs: number
  /** When it was over; null while it lasts. */
  untilMs: number | null
  /** Median of the 95th percentiles before, and the first one of the stretch. */
  usualMs: number
  p95Ms: number
}

/** Twice as long, and by a difference that somebody waits for. */
const leastRatio = 2
const leastDifferenceMs = 20
/** It is over when it takes less than this many times the usual. */
const overRatio = 1.5
/** Buckets that make what is usual: at least and at most. */
const fewest = 5
const most = 48
/** Executions without which a percentile is chance: of what is usual, and of the two buckets that are slow. */
const leastUsualCalls = 20
const leastSlowCalls = 10

type Ran = Pick<TrendPoint, 'timeMs' | 'calls'> & { p95Ms: number }

/** Where the 95th percentile rises to twice what it was, for two buckets in a row so that one slow execution is none. */
export const regressions = (trend: readonly TrendPoint[]): Regression[] => {
  const ran = trend.flatMap(({ timeMs, calls, p95Ms }): Ran[] => (p95Ms === null ? [] : [{ timeMs, calls, p95Ms }]))
  const found: Regression[] = []
  const before: Ran[] = []
  let present: Regression | null = null
  for (const [index, point] of ran.entries()) {
    const { timeMs, p95Ms } = point
    if (present && p95Ms < overRatio * present.usualMs) {
      present.untilMs = timeMs
      present = null
    }
    if (present) continue
    const usual = before.slice(-most)
    const usualMs = median(usual.map((each) => each.p95Ms))
    if (usual.length >= fewest && callsOf(usual) >= leastUsualCalls && isSlow([point, ran[index + 1]], usualMs)) {
      present = { fromMs: timeMs, untilMs: null, usualMs, p95Ms }
      found.push(present)
    } else before.push(point)
  }
  return found
}

const callsOf = (points: readonly Ran[]): number => points.reduce((sum, { calls }) => sum + calls, 0)

const isSlow = (pair: readonly (Ran | undefined)[], usualMs: number): boolean => {
  const both = pair.flatMap((point) => point ?? [])
  const areSlow = both.every(({ p95Ms }) => p95Ms >= leastRatio * usualMs && p95Ms - usualMs >= leastDifferenceMs)
  return both.length === pair.length && areSlow && callsOf(both) >= leastSlowCalls
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
