import type { ChartInfo } from '#proto/catalogue.ts'
import type { Row } from '#proto/query.ts'
import { readInstant } from '#lib/ui/time.ts'
import { readNumber } from './series.ts'

/** Something that began at an instant and took a while; no time at all for what is only an instant. */
export interface Span {
  fromMs: number
  lengthMs: number
  text: string
}

export interface Lane {
  name: string
  spans: readonly Span[]
}

/** As many lanes as a card can show; the table view tells the others. */
const maximumLanes = 10

const unitMs: Partial<Record<string, number>> = { seconds: 1_000, milliseconds: 1, microseconds: 1e-3 }

/** The rows of a timeline: lanes by the `series` column, those with most on them first; its length is the `value` column. */
export const toLanes = (chart: ChartInfo, rows: readonly Row[]): Lane[] => {
  const column = (role: string) => chart.columns.find((each) => each.role === role)
  const [time, series, label, value] = ['time', 'series', 'label', 'value'].map(column)
  const spans = rows.flatMap((row) => {
    const fromMs = readInstant(row[time?.name ?? ''])
    if (fromMs === null) return []
    const lengthMs = (readNumber(row[value?.name ?? '']) ?? 0) * (unitMs[value?.unit ?? ''] ?? 0)
    return [
      { lane: String(row[series?.name ?? ''] ?? ''), fromMs, lengthMs, text: String(row[label?.name ?? ''] ?? '') },
    ]
  })
  return [...Map.groupBy(spans, ({ lane }) => lane)]
    .map(([name, found]) => ({ name, spans: found.map(({ lane: _, ...span }) => span) }))
    .toSorted((a, b) => b.spans.length - a.spans.length)
    .slice(0, maximumLanes)
}
