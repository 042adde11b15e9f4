import { dayOf, type LocalDay } from '#lib/ui/time.ts'
import { bucketMs, type TimeSeries } from './series.ts'

/** One square: where it lies, and how dark it is, from 0 for nothing to 1 for the most. */
export interface HeatCell {
  timeMs: number
  value: number | null
  column: number
  row: number
  shade: number
}

export interface Heat {
  cells: readonly HeatCell[]
  columns: number
  rows: number
}

const dayMs = 86_400_000
const weekDays = 7
/** The first day of 1970 was a Thursday; weeks begin on Monday. */
const weekdayOfEpoch = 3

/** Days as weeks side by side, Monday on top; shorter buckets as days side by side, midnight on top. */
export const toHeat = ({ times, series }: TimeSeries, zone: string): Heat => {
  const values = series[0]?.values ?? []
  const most = Math.max(0, ...values.map((value) => value ?? 0))
  const step = bucketMs(times)
  const placed = times.map((timeMs) => placeOf(dayOf(timeMs, zone), step))
  const first = Math.min(...placed.map(({ column }) => column))
  const cells = times.map((timeMs, index) => {
    const { column, row } = placed[index] ?? { column: first, row: 0 }
    const value = values[index] ?? null
    return { timeMs, value, column: column - first, row, shade: most > 0 ? (value ?? 0) / most : 0 }
  })
  return {
    cells,
    columns: Math.max(0, ...cells.map(({ column }) => column + 1)),
    rows: step < dayMs && step > 0 ? Math.ceil(dayMs / step) : weekDays,
  }
}

const placeOf = ({ day, sinceMidnightMs }: LocalDay, step: number): { column: number; row: number } => {
  if (step < dayMs && step > 0) return { column: day, row: Math.floor(sinceMidnightMs / step) }
  const weekday = (day + weekdayOfEpoch) % weekDays
  return { column: (day - weekday) / weekDays, row: weekday }
}
