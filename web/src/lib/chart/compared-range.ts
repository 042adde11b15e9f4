import type { Series, TimeSeries } from './series.ts'

/** Shifts the series of the compared range onto the shown one, matched by key, in the order of the shown series. */
export const shiftToShownRange = (now: TimeSeries, earlier: TimeSeries, byMs: number): TimeSeries => {
  const found = new Map(earlier.series.map((series) => [series.key, series.values]))
  const absent = earlier.times.map(() => null)
  return {
    times: earlier.times.map((timeMs) => timeMs + byMs),
    series: now.series.map((series): Series => ({ ...series, values: found.get(series.key) ?? absent })),
  }
}
