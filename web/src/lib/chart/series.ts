import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'
import { assignColors, neutralColor } from './colors.ts'

/** A series with a value, or null, for each instant of the chart. */
export interface Series {
  key: string
  label: string
  unit: Unit
  /** Position of its colour in the palette. */
  color: number
  values: readonly (number | null)[]
}

export interface TimeSeries {
  times: readonly number[]
  series: readonly Series[]
}

/** Maximum number of series, one per colour. The last one is the sum of all smaller series. */
export const maxSeries = 8

/** Returns whether a chart has a time axis. */
export const hasTimeAxis = (chart: ChartInfo): boolean => chart.columns.some((column) => column.role === 'time')

/** Converts the rows of a time chart to series: one per value column, or one per name if there is a series column. */
export const toTimeSeries = (chart: ChartInfo, rows: readonly Row[]): TimeSeries => {
  const time = chart.columns.find((column) => column.role === 'time')?.name ?? ''
  const stamped = rows.flatMap((row) => {
    const timeMs = readInstant(row[time])
    return timeMs === null ? [] : [{ timeMs, row }]
  })
  const times = [...new Set(stamped.map((each) => each.timeMs))].toSorted((a, b) => a - b)
  const position = new Map(times.map((timeMs, index) => [timeMs, index]))
  const name = chart.columns.find((column) => column.role === 'series')?.name
  // If there is a series column, only the first value column is drawn. The table view contains the others.
  const values = chart.columns.filter((column) => column.role === 'value').slice(0, name ? 1 : undefined)
  const found = new Map<string, Series & { values: (number | null)[] }>()

  for (const { timeMs, row } of stamped) {
    for (const column of values) {
      const key = name ? String(row[name] ?? '') : column.name
      const label = name ? key || '(none)' : (column.label ?? column.name)
      const series = found.get(key) ?? { key, label, unit: column.unit, color: 0, values: times.map(() => null) }
      found.set(key, series)
      const index = position.get(timeMs)
      if (index !== undefined) series.values[index] = readNumber(row[column.name])
    }
  }
  const series = name ? foldSmallest([...found.values()]) : [...found.values()].slice(0, maxSeries)
  // The only value column is the subject of the chart, not a name that other charts share.
  return { times, series: name || series.length > 1 ? colorByName(series) : series }
}

const colorByName = (series: readonly Series[]): Series[] => {
  const colors = assignColors(series.filter(({ key }) => key !== restKey).map(({ label }) => label))
  return series.map((each) => ({ ...each, color: colors.get(each.label) ?? neutralColor }))
}

/** Key of the sum of all smaller series. */
const restKey = '…'

/** Parses a number; hosts may send 64-bit integers as text. */
export const readNumber = (value: unknown): number | null => {
  if (value === null || value === undefined || value === '') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

const sumValues = (series: Series): number => series.values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

const foldSmallest = (series: readonly Series[]): Series[] => {
  const largestFirst = series.toSorted((a, b) => sumValues(b) - sumValues(a))
  if (largestFirst.length <= maxSeries) return largestFirst
  const rest = largestFirst.slice(maxSeries - 1)
  const [first] = rest
  if (!first) return largestFirst
  const values = first.values.map((_, index) => rest.reduce((sum, each) => sum + (each.values[index] ?? 0), 0))
  const folded = { ...first, key: restKey, label: `${rest.length} others`, values }
  return [...largestFirst.slice(0, maxSeries - 1), folded]
}

/** Returns the index of the instant nearest to `timeMs`, or -1 if there are none. `times` must be sorted. */
export const findNearestIndex = (times: readonly number[], timeMs: number): number => {
  let [low, high] = [0, times.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] ?? 0) < timeMs) low = middle + 1
    else high = middle
  }
  const [before, at] = [times[low - 1], times[low]]
  if (at === undefined) return -1
  return before !== undefined && timeMs - before < at - timeMs ? low - 1 : low
}

/** Returns the smallest distance between two instants, in milliseconds. */
export const getBucketMs = (times: readonly number[]): number => {
  const steps = times.slice(1).map((timeMs, index) => timeMs - (times[index] ?? timeMs))
  return steps.length > 0 ? Math.min(...steps) : 0
}

/**
 * Returns the index of the newest bucket that ended before `untilMs`; the last index if there is none. The value of an
 * incomplete bucket would look like a drop.
 */
export const findLatestCompleteBucket = (times: readonly number[], untilMs: number): number => {
  const step = getBucketMs(times)
  const found = times.findLastIndex((timeMs) => timeMs + step <= untilMs)
  return found === -1 ? times.length - 1 : found
}
