import type { ChartInfo } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'
import { readNumber } from './series.ts'

/** An event with a start and a duration, which is 0 for an instant. */
export interface TimelineSpan {
  fromMs: number
  lengthMs: number
  text: string
  row: Row
}

export interface Lane {
  name: string
  spans: readonly TimelineSpan[]
}

/** Maximum number of lanes in a card; the table view contains all of them. */
const maxLanes = 10

const unitMs: Partial<Record<string, number>> = { seconds: 1_000, milliseconds: 1, microseconds: 1e-3 }

/** Groups the rows of a timeline into lanes by the `series` column, in order of time. Lanes with the most events come first. */
export const toLanes = (chart: ChartInfo, rows: readonly Row[]): Lane[] => {
  const column = (role: string) => chart.columns.find((each) => each.role === role)
  const [time, series, label, value] = ['time', 'series', 'label', 'value'].map(column)
  const spans = rows.flatMap((row) => {
    const fromMs = readInstant(row[time?.name ?? ''])
    if (fromMs === null) return []
    const lengthMs = (readNumber(row[value?.name ?? '']) ?? 0) * (unitMs[value?.unit ?? ''] ?? 0)
    return [
      {
        lane: String(row[series?.name ?? ''] ?? ''),
        fromMs,
        lengthMs,
        text: String(row[label?.name ?? ''] ?? ''),
        row,
      },
    ]
  })
  return [...Map.groupBy(spans, ({ lane }) => lane)]
    .map(([name, found]) => ({
      name,
      spans: found.map(({ lane: _, ...span }) => span).toSorted((a, b) => a.fromMs - b.fromMs),
    }))
    .toSorted((a, b) => b.spans.length - a.spans.length)
    .slice(0, maxLanes)
}

/** Returns the index of the span in the next lane, or the previous one, that starts nearest to a span. */
export const findSpanInLane = (lanes: readonly Lane[], index: number, direction: 1 | -1): number | undefined => {
  const starts = lanes.map((_, at) => lanes.slice(0, at).reduce((sum, { spans }) => sum + spans.length, 0))
  const lane = starts.findLastIndex((start) => start <= index)
  const [from, target] = [lanes[lane]?.spans[index - (starts[lane] ?? 0)], lanes[lane + direction]]
  if (!from || !target) return undefined
  const distances = target.spans.map(({ fromMs }) => Math.abs(fromMs - from.fromMs))
  return (starts[lane + direction] ?? 0) + distances.indexOf(Math.min(...distances))
}
