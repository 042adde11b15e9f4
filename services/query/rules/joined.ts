import type { RuleDefinition } from '#proto/rule-definition.ts'
import { hostFailure } from '../clickhouse/failure.ts'
import type { Statement } from '../clickhouse/statement.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { maxOffenderLength, maxOffenders, type Measured, untold, worstOf } from './measured.ts'

/** A statement that measures one thing in one row, ready to be sent. */
export interface Ready {
  key: string
  /** What it reads, of which the first is what it is asked together by. */
  requires: readonly string[]
  sql: string
  columns: RuleDefinition['columns']
  alone: boolean
  /** It has taken too long on this host before. */
  isSlow: boolean
}

const maxSeconds = 10

/** One statement that measures all of them: a row for each. */
export const joinedStatement = (asked: readonly Ready[]): Statement => ({
  what: 'rules',
  hot: true,
  maxSeconds,
  sql: asked.map(rowOf).join('\nUNION ALL\n'),
})

/** Every cell has a name of its own: older servers, such as 24.8, refuse a union with two columns of one name, as bare NULLs are. */
const rowOf = ({ sql, columns }: Ready, index: number): string => {
  const number = (column: Ready['columns'][number]): string =>
    columns.includes(column) ? `toFloat64(${column})` : "CAST(NULL, 'Nullable(Float64)')"
  const offenders = columns.includes('offenders')
    ? `arraySlice(arrayMap(each -> substringUTF8(toString(each), 1, ${maxOffenderLength}), offenders), 1, ${maxOffenders})`
    : "CAST([], 'Array(String)')"
  const cells = [index, ...(['measured', 'warning', 'critical', 'samples'] as const).map(number), offenders]
  return `SELECT ${cells.map((cell, place) => `${cell} AS cell_${place}`).join(', ')}\nFROM (\n${sql}\n)`
}

/** What each of them measured; a figure that the host gives no number for is untold. */
export const readingsOf = (
  host: MonitoredHost,
  asked: readonly Ready[],
  rows: readonly (readonly unknown[])[],
): Map<string, Measured> => {
  if (!rows.every(isRow)) throw hostFailure(host, 'garbage')
  const byIndex = new Map(rows.map((row) => [Number(row[0]), row]))
  return new Map(asked.map(({ key }, index) => [key, readingOf(host, byIndex.get(index))]))
}

type Figure = number | null
type Row = readonly [
  index: unknown,
  value: Figure,
  warning: Figure,
  critical: Figure,
  samples: Figure,
  offenders: string[],
]

/** Checked by hand, for a sweep of a fleet reads a hundred thousand of them. */
const isRow = (row: readonly unknown[]): row is Row => {
  const [index, value, warning, critical, samples, offenders] = row
  const areFigures = isFigure(value) && isFigure(warning) && isFigure(critical) && isFigure(samples)
  return areFigures && Number.isInteger(Number(index)) && Array.isArray(offenders) && offenders.every(isText)
}

const isFigure = (cell: unknown): cell is Figure => cell === null || Number.isFinite(cell)
const isText = (cell: unknown): cell is string => typeof cell === 'string'

const readingOf = (host: MonitoredHost, row: Row | undefined): Measured => {
  if (row === undefined || row[1] === null) return untold(`host ${host.name} does not know this figure`)
  const [, value, warning, critical, samples, offenders] = row
  return { value, reason: null, warning, critical, samples, offenders: worstOf(offenders) }
}
