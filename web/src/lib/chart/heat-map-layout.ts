import { toLocalDay, type LocalDay } from '#lib/ui/time.ts'
import { getBucketMs, type TimeSeries } from './series.ts'

/** A cell with its position and its shade, from 0 for zero to 1 for the maximum. */
export interface HeatCell {
  timeMs: number
  value: number | null
  column: number
  row: number
  shade: number
}

export interface HeatMapLayout {
  cells: readonly HeatCell[]
  columns: number
  rows: number
}

const dayMs = 86_400_000
const weekDays = 7
/** Weekday of 1 January 1970, a Thursday, counted from Monday as 0. */
const weekdayOfEpoch = 3

/** Lays out the cells of a heat map. A column is a week from Monday for daily buckets, else a day. */
export const layOutHeatMap = ({ times, series }: TimeSeries, zone: string): HeatMapLayout => {
  const values = series[0]?.values ?? []
  const highest = Math.max(0, ...values.map((value) => value ?? 0))
  const step = getBucketMs(times)
  const placed = times.map((timeMs) => placeOf(toLocalDay(timeMs, zone), step))
  const first = Math.min(...placed.map(({ column }) => column))
  const cells = times.map((timeMs, index) => {
    const { column, row } = placed[index] ?? { column: first, row: 0 }
    const value = values[index] ?? null
    return { timeMs, value, column: column - first, row, shade: highest > 0 ? (value ?? 0) / highest : 0 }
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

/** Columns and rows by which arrow keys move in a heat map. */
const cellSteps: Readonly<Record<string, readonly [columns: number, rows: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** Returns the index of the cell that an arrow key leads to; the same index at the edge, undefined for other keys. */
export const findCellBeside = (cells: readonly HeatCell[], index: number, key: string): number | undefined => {
  const [step, from] = [cellSteps[key], cells[index]]
  if (!step || !from) return undefined
  const found = cells.findIndex(({ column, row }) => column === from.column + step[0] && row === from.row + step[1])
  return found === -1 ? index : found
}
