import type { ChartPart } from '#proto/agent-parts.ts'
import type { ChartInfo, Unit } from '#proto/catalogue.ts'
import type { ChartData } from '#proto/query.ts'
import { isDateType, getResultColumnKey } from '#lib/table/result-rows.ts'

/** The agent gives durations without a unit, so they are shown as plain numbers. */
const units: Record<NonNullable<ChartPart['unit']>, Unit> = {
  bytes: 'bytes',
  duration: 'none',
  number: 'none',
  quantity: 'count',
}

/** Chart kinds that support a time axis. Charts of other kinds with a time axis are shown as line charts. */
const timeKinds: Partial<Record<ChartPart['kind'], ChartInfo['kind']>> = { bar: 'bar', area: 'area' }

/** Converts a chart in an answer to the format of catalogue charts. Times keep the wall-clock time of the host. */
export const toCatalogueChart = (
  { title, kind, columns, rows, x, y, unit: partUnit }: ChartPart,
  id: string,
): ChartData => {
  const along = columns.findIndex(({ name }) => name === x)
  const overTime = along >= 0 && isDateType(columns[along]?.type ?? '')
  const unit: Unit = partUnit === null ? 'none' : units[partUnit]
  const drawn: ChartInfo['columns'] = columns.flatMap(({ name }, index): ChartInfo['columns'] => {
    if (index === along)
      return [{ name: getResultColumnKey(index), label: name, role: overTime ? 'time' : 'label', unit: 'none' }]
    return y.includes(name) ? [{ name: getResultColumnKey(index), label: name, role: 'value', unit }] : []
  })
  const keyed = rows.map((row) =>
    Object.fromEntries(
      columns.map((_, index): [string, unknown] => [
        getResultColumnKey(index),
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

/** Parses a time such as `2026-11-21 18:14:24.5` as UTC and returns epoch milliseconds; null if it is invalid. */
const instantOf = (value: unknown): number | null => {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d(?:\.\d{1,3})?))?/.exec(String(value))
  return parts ? Date.parse(`${parts[1]}T${parts[2] ?? '00:00:00'}Z`) : null
}
