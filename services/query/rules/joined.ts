import { z } from 'zod'
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
  maxSeconds,
  sql: asked.map(rowOf).join('\nUNION ALL\n'),
})

const rowOf = ({ sql, columns }: Ready, index: number): string => {
  const number = (column: Ready['columns'][number]): string =>
    columns.includes(column) ? `toFloat64(${column})` : "CAST(NULL, 'Nullable(Float64)')"
  const offenders = columns.includes('offenders')
    ? `arraySlice(arrayMap(each -> substringUTF8(toString(each), 1, ${maxOffenderLength}), offenders), 1, ${maxOffenders})`
    : "CAST([], 'Array(String)')"
  const cells = [index, ...(['measured', 'warning', 'critical', 'samples'] as const).map(number), offenders]
  return `SELECT ${cells.join(', ')}\nFROM (\n${sql}\n)`
}

const figure = z.number().nullable()
const Rows = z.array(z.tuple([z.coerce.number(), figure, figure, figure, figure, z.array(z.string())]))

/** What each of them measured; a figure that the host gives no number for is untold. */
export const readingsOf = (
  host: MonitoredHost,
  asked: readonly Ready[],
  rows: readonly (readonly unknown[])[],
): Map<string, Measured> => {
  const read = Rows.safeParse(rows)
  if (!read.success) throw hostFailure(host, 'garbage')
  const byIndex = new Map(read.data.map(([index, ...cells]) => [index, cells]))
  return new Map(asked.map(({ key }, index) => [key, readingOf(host, byIndex.get(index))]))
}

type Cells = z.infer<typeof Rows>[number] extends [number, ...infer C] ? C : never

const readingOf = (host: MonitoredHost, cells: Cells | undefined): Measured => {
  const [value, warning, critical, samples, offenders] = cells ?? []
  if (value == null || !offenders) return untold(`host ${host.name} does not know this figure`)
  return {
    value,
    reason: null,
    warning: warning ?? null,
    critical: critical ?? null,
    samples: samples ?? null,
    offenders: worstOf(offenders),
  }
}
