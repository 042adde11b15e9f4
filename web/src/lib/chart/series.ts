import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'

/** One line of a chart: a value, or its absence, for each instant of the chart. */
export interface Series {
  key: string
  label: string
  unit: Unit
  values: readonly (number | null)[]
}

export interface TimeSeries {
  times: readonly number[]
  series: readonly Series[]
}

/** As many series as there are colours; what is smaller is summed up as the last of them. */
export const maximumSeries = 8

/** Whether a chart is drawn over time rather than over names. */
export const isOverTime = (chart: ChartInfo): boolean => chart.columns.some((column) => column.role === 'time')

/** The rows of a chart over time as series: one per value column, or one per name when there is a series column. */
export const toTimeSeries = (chart: ChartInfo, rows: readonly Row[]): TimeSeries => {
  const time = chart.columns.find((column) => column.role === 'time')?.name ?? ''
  const stamped = rows.flatMap((row) => {
    const timeMs = readInstant(row[time])
    return timeMs === null ? [] : [{ timeMs, row }]
  })
  const times = [...new Set(stamped.map((each) => each.timeMs))].toSorted((a, b) => a - b)
  const position = new Map(times.map((timeMs, index) => [timeMs, index]))
  const name = chart.columns.find((column) => column.role === 'series')?.name
  // A name has one series, of the first value; the table view tells the others.
  const values = chart.columns.filter((column) => column.role === 'value').slice(0, name ? 1 : undefined)
  const found = new Map<string, Series & { values: (number | null)[] }>()

  for (const { timeMs, row } of stamped) {
    for (const column of values) {
      const key = name ? String(row[name] ?? '') : column.name
      const label = name ? key || '(none)' : (column.label ?? column.name)
      const series = found.get(key) ?? { key, label, unit: column.unit, values: times.map(() => null) }
      found.set(key, series)
      const index = position.get(timeMs)
      if (index !== undefined) series.values[index] = readNumber(row[column.name])
    }
  }
  return { times, series: name ? foldSmallest([...found.values()]) : [...found.values()].slice(0, maximumSeries) }
}

/** A number as hosts send it: 64-bit integers may come as text. */
export const readNumber = (value: unknown): number | null => {
  if (value === null || value === undefined || value === '') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

const total = (series: Series): number => series.values.reduce<number>((sum, value) => sum + (value ?? 0), 0)

const foldSmallest = (series: readonly Series[]): Series[] => {
  const largestFirst = series.toSorted((a, b) => total(b) - total(a))
  if (largestFirst.length <= maximumSeries) return largestFirst
  const rest = largestFirst.slice(maximumSeries - 1)
  const [first] = rest
  if (!first) return largestFirst
  const values = first.values.map((_, index) => rest.reduce((sum, each) => sum + (each.values[index] ?? 0), 0))
  const folded = { key: '…', label: `${rest.length} others`, unit: first.unit, values }
  return [...largestFirst.slice(0, maximumSeries - 1), folded]
}

/** The position of the instant nearest to `timeMs`; -1 when there is none. `times` is in order. */
export const nearest = (times: readonly number[], timeMs: number): number => {
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

/** The usual distance between two instants of a chart, in milliseconds. */
export const bucketMs = (times: readonly number[]): number => {
  const steps = times.slice(1).map((timeMs, index) => timeMs - (times[index] ?? timeMs))
  return steps.length > 0 ? Math.min(...steps) : 0
}

/** The position of the newest bucket that was over at `untilMs`; of the last where none was. One that has only begun would be read as a fall. */
export const latestWhole = (times: readonly number[], untilMs: number): number => {
  const step = bucketMs(times)
  const found = times.findLastIndex((timeMs) => timeMs + step <= untilMs)
  return found === -1 ? times.length - 1 : found
}
