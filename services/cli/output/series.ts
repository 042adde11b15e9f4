import type { ChartInfo, Unit } from '#proto/catalogue.ts'

/** One line of a chart. */
export interface Series {
  name: string
  unit: Unit
  values: (number | null)[]
}

type Row = Readonly<Record<string, unknown>>

/** Returns the series of a chart in time order; undefined for charts without time axis and for events. */
export const toSeries = ({ columns }: Pick<ChartInfo, 'columns'>, rows: readonly Row[]): Series[] | undefined => {
  const time = columns.find(({ role }) => role === 'time')
  const values = columns.filter(({ role }) => role === 'value')
  const split = columns.find(({ role }) => role === 'series')
  if (!time || values.length === 0) return undefined
  const instants = [...new Set(rows.map((row) => String(row[time.name])))].toSorted((a, b) => Number(a) - Number(b))
  const places = new Map(instants.map((instant, index) => [instant, index]))
  const found = new Map<string, Series>()
  for (const row of rows) {
    for (const { name, label = name, unit } of values) {
      const title = split ? [String(row[split.name]), ...(values.length > 1 ? [label] : [])].join(' ') : label
      const series = found.get(title) ?? { name: title, unit, values: instants.map(() => null) }
      found.set(title, series)
      const value = row[name]
      series.values[places.get(String(row[time.name])) ?? 0] = value == null ? null : Number(value)
    }
  }
  return [...found.values()].toSorted((one, other) => totalOf(other) - totalOf(one))
}

const totalOf = ({ values }: Series): number => values.reduce<number>((total, value) => total + (value ?? 0), 0)
