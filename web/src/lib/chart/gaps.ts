import type { TimeSeries } from './series.ts'

/** A distance between two instants that is longer than this many steps is a gap. */
const maxSteps = 1.5
/** Steps are regular if at least half of them are at most this much longer than the shortest. */
const tolerance = 1.25

/**
 * Adds an instant without values to each gap, so that lines break there. `stepMs` is the length of a bucket. Without it,
 * instants at irregular distances have no gaps, as they may be events.
 */
export const addGaps = ({ times, series }: TimeSeries, stepMs = findStepMs(times)): TimeSeries => {
  if (stepMs === undefined) return { times, series }
  const positions = times.flatMap((timeMs, index) => {
    const next = times[index + 1]
    return next !== undefined && next - timeMs > stepMs * maxSteps ? [index, null] : [index]
  })
  if (positions.length === times.length) return { times, series }
  return {
    times: positions.map((position, index) =>
      position === null ? (times[positions[index - 1] ?? 0] ?? 0) + stepMs : (times[position] ?? 0),
    ),
    series: series.map((each) => ({
      ...each,
      values: positions.map((position) => (position === null ? null : (each.values[position] ?? null))),
    })),
  }
}

/** Returns the usual distance between instants, or undefined if they have none. */
const findStepMs = (times: readonly number[]): number | undefined => {
  const steps = times.slice(1).map((timeMs, index) => timeMs - (times[index] ?? timeMs))
  const sorted = steps.toSorted((a, b) => a - b)
  const [shortest, median] = [sorted[0], sorted[Math.floor(sorted.length / 2)]]
  return shortest !== undefined && median !== undefined && median <= shortest * tolerance ? median : undefined
}
