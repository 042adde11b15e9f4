import type { ChartInfo } from '#proto/catalogue.ts'
import type { ResultColumn } from '#proto/console.ts'
import type { ChartData, Row } from '#proto/query.ts'
import type { Result } from '#lib/api/console.ts'
import { isInstant, isNumber, keyOf } from '#lib/table/result-rows.ts'

/** How a result is drawn: by the places of its columns. */
export interface Drawing {
  kind: (typeof kinds)[number]
  /** Along which it is drawn: instants, or names. */
  along: number
  /** One line for each of its values; null for one line for each column. */
  series: number | null
  values: readonly number[]
}

export const kinds = ['line', 'area', 'stacked-area', 'bar', 'stacked-bar', 'horizontal-bar'] as const

/** More lines than this cannot be told apart. */
const mostValues = 8

const placesOf = (columns: readonly ResultColumn[], is: (type: string) => boolean): number[] =>
  columns.flatMap(({ type }, index) => (is(type) ? [index] : []))

/** What a result is most likely meant to show; null when it has nothing to draw. */
export const usualDrawing = (columns: readonly ResultColumn[]): Drawing | null => {
  const instants = placesOf(columns, isInstant)
  const numbers = placesOf(columns, isNumber)
  const names = placesOf(columns, (type) => !isInstant(type) && !isNumber(type))
  const [along = names[0]] = instants
  if (numbers.length === 0 || along === undefined) return null
  if (instants.length === 0)
    return { kind: 'horizontal-bar', along, series: null, values: numbers.slice(0, mostValues) }
  const [series = null] = names
  return { kind: 'line', along, series, values: numbers.slice(0, series === null ? mostValues : 1) }
}

/** Whether a column can be drawn along: of numbers only when nothing else is there to name rows. */
export const canBeAlong = ({ type }: ResultColumn): boolean => !isNumber(type)

/** A result as a chart like those of the catalogue. Times are told as the host wrote them, so they are shown without a zone. */
export const drawn = ({ columns, rows }: Result['data'], { kind, along, series, values }: Drawing): ChartData => {
  const overTime = isInstant(columns[along]?.type ?? '')
  const nameAt = (index: number) => columns[index]?.name ?? ''
  const isSeries = overTime && series !== null
  const info: ChartInfo['columns'] = [
    { name: keyOf(along), role: overTime ? 'time' : 'label', label: nameAt(along), unit: 'none' },
    ...(isSeries
      ? [{ name: keyOf(series), role: 'series' as const, label: nameAt(series), unit: 'none' as const }]
      : []),
    ...values.map((index) => ({
      name: keyOf(index),
      role: 'value' as const,
      label: nameAt(index),
      unit: 'none' as const,
    })),
  ]
  const keyed = rows.map((row): Row => {
    const cells = columns.map((_, index): [string, unknown] => [keyOf(index), row[index]])
    return { ...Object.fromEntries(cells), ...(overTime && { [keyOf(along)]: instantOf(row[along]) }) }
  })
  return {
    chart: {
      name: 'result',
      title: 'Result',
      doc: 'What the statement answered.',
      topic: 'queries',
      kind: overTime && kind === 'horizontal-bar' ? 'line' : overTime ? kind : 'horizontal-bar',
      columns: info,
      feature: 'QUERIES',
      requires: [],
      parameters: [],
      cache: 'realtime',
    },
    rows: overTime ? keyed.filter((row) => row[keyOf(along)] !== null) : keyed,
    window: null,
    unavailable: null,
    statement: null,
  }
}

/** `2026-11-21 18:14:24.5` as an instant, as if the host lived in UTC. */
const instantOf = (value: unknown): number | null => {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?))?/.exec(String(value))
  return parts ? Date.parse(`${parts[1]}T${parts[2] ?? '00:00:00'}Z`) : null
}
