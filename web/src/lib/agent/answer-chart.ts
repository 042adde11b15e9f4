import type { ChartPart } from '#proto/agent-parts.ts'
import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import { isInstant, keyOf } from '#lib/table/result-rows.ts'

/** How long a thing took is told without saying in which unit, so it stays a number. */
const units: Record<NonNullable<ChartPart['unit']>, Unit> = {
  bytes: 'bytes',
  duration: 'none',
  number: 'none',
  quantity: 'count',
}

/** Kinds along a time; along names all others are bars by name. */
const timeKinds: Partial<Record<ChartPart['kind'], ChartInfo['kind']>> = { bar: 'bar', area: 'area' }

/** A chart of an answer as one like those of the catalogue. Times are told as the host wrote them, so they are shown without a zone. */
export const chartOf = ({ title, kind, columns, rows, x, y, unit: given }: ChartPart, id: string): ChartData => {
  const along = columns.findIndex(({ name }) => name === x)
  const overTime = along >= 0 && isInstant(columns[along]?.type ?? '')
  const unit: Unit = given === null ? 'none' : units[given]
  const drawn: ChartInfo['columns'] = columns.flatMap(({ name }, index): ChartInfo['columns'] => {
    if (index === along) return [{ name: keyOf(index), label: name, role: overTime ? 'time' : 'label', unit: 'none' }]
    return y.includes(name) ? [{ name: keyOf(index), label: name, role: 'value', unit }] : []
  })
  const keyed = rows.map((row) =>
    Object.fromEntries(
      columns.map((_, index): [string, unknown] => [
        keyOf(index),
        index === along && overTime ? instantOf(row[index]) : row[index],
      ]),
    ),
  )
  return {
    chart: {
      name: id,
      title,
      doc: title,
      topic: 'agent',
      kind: kindOf(kind, along, overTime),
      columns: drawn,
      feature: 'AGENT',
      requires: [],
      parameters: [],
      cache: 'realtime',
    },
    rows: keyed,
    window: null,
    unavailable: null,
    statement: null,
  }
}

const kindOf = (kind: ChartPart['kind'], along: number, overTime: boolean): ChartInfo['kind'] => {
  if (kind === 'table' || kind === 'scatter') return 'list'
  if (overTime) return timeKinds[kind] ?? 'line'
  return along < 0 ? 'number' : 'horizontal-bar'
}

/** `2026-11-21 18:14:24.5` as an instant, as if the host lived in UTC. */
const instantOf = (value: unknown): number | null => {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?))?/.exec(String(value))
  return parts ? Date.parse(`${parts[1]}T${parts[2] ?? '00:00:00'}Z`) : null
}
