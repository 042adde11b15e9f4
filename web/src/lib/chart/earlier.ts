import type { Series, TimeSeries } from './series.ts'

/** The series of an earlier stretch of time, moved on to lie under the present ones, in their order and by their names. */
export const underlay = (now: TimeSeries, earlier: TimeSeries, byMs: number): TimeSeries => {
  const found = new Map(earlier.series.map((series) => [series.key, series.values]))
  const absent = earlier.times.map(() => null)
  return {
    times: earlier.times.map((timeMs) => timeMs + byMs),
    series: now.series.map((series): Series => ({ ...series, values: found.get(series.key) ?? absent })),
  }
}
