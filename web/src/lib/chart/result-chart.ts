import type { ChartInfo } from '#proto/catalogue.ts'
import type { ResultColumn } from '#proto/console.ts'
import type { ChartData, Row } from '#proto/query.ts'
import type { StatementResult } from '#lib/api/console.ts'
import { isDateType, isNumericType, getResultColumnKey } from '#lib/table/result-rows.ts'

/** A chart of a result. It refers to columns by position. */
export interface ChartSpec {
  kind: (typeof resultChartKinds)[number]
  /** The column of the x-axis, with instants or names. */
  along: number
  /** The column whose values name the series. Null means one series per value column. */
  series: number | null
  values: readonly number[]
}

export const resultChartKinds = ['line', 'area', 'stacked-area', 'bar', 'stacked-bar', 'horizontal-bar'] as const

/** Maximum number of series, because users cannot distinguish more. */
const maxValues = 8

const placesOf = (columns: readonly ResultColumn[], is: (type: string) => boolean): number[] =>
  columns.flatMap(({ type }, index) => (is(type) ? [index] : []))

/** Returns the default chart of a result; null if the result has no suitable columns. */
export const createDefaultChartSpec = (columns: readonly ResultColumn[]): ChartSpec | null => {
  const instants = placesOf(columns, isDateType)
  const numbers = placesOf(columns, isNumericType)
  const names = placesOf(columns, (type) => !isDateType(type) && !isNumericType(type))
  const [along = names[0]] = instants
  if (numbers.length === 0 || along === undefined) return null
  if (instants.length === 0) return { kind: 'horizontal-bar', along, series: null, values: numbers.slice(0, maxValues) }
  const [series = null] = names
  return { kind: 'line', along, series, values: numbers.slice(0, series === null ? maxValues : 1) }
}

/** Returns whether a column can be the x-axis. */
export const canBeXAxis = ({ type }: ResultColumn): boolean => !isNumericType(type)

/** Converts a result to chart data. Times stay in the time zone of the host, so no conversion is applied. */
export const toChartData = (
  { columns, rows }: StatementResult['data'],
  { kind, along, series, values }: ChartSpec,
): ChartData => {
  const overTime = isDateType(columns[along]?.type ?? '')
  const nameAt = (index: number) => columns[index]?.name ?? ''
  const isSeries = overTime && series !== null
  const info: ChartInfo['columns'] = [
    { name: getResultColumnKey(along), role: overTime ? 'time' : 'label', label: nameAt(along), unit: 'none' },
    ...(isSeries
      ? [{ name: getResultColumnKey(series), role: 'series' as const, label: nameAt(series), unit: 'none' as const }]
      : []),
    ...values.map((index) => ({
      name: getResultColumnKey(index),
      role: 'value' as const,
      label: nameAt(index),
      unit: 'none' as const,
    })),
  ]
  const keyed = rows.map((row): Row => {
    const cells = columns.map((_, index): [string, unknown] => [getResultColumnKey(index), row[index]])
    return { ...Object.fromEntries(cells), ...(overTime && { [getResultColumnKey(along)]: instantOf(row[along]) }) }
  })
  return {
    chart: {
      name: 'result',
      title: 'Result',
      doc: 'Result of the statement.',
      topic: 'queries',
      kind: overTime && kind === 'horizontal-bar' ? 'line' : overTime ? kind : 'horizontal-bar',
      columns: info,
      feature: 'QUERIES',
      requires: [],
      parameters: [],
      cache: 'realtime',
    },
    rows: overTime ? keyed.filter((row) => row[getResultColumnKey(along)] !== null) : keyed,
    window: null,
    unavailable: null,
    statement: null,
  }
}

/** Parses `2026-11-21 18:14:24.5` as epoch milliseconds, as if it were UTC. Returns null for other text. */
const instantOf = (value: unknown): number | null => {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?))?/.exec(String(value))
  return parts ? Date.parse(`${parts[1]}T${parts[2] ?? '00:00:00'}Z`) : null
}
