import type { ResultColumn } from '#proto/console.ts'
import type { Row } from '#proto/query.ts'
import type { Result } from '#lib/api/console.ts'
import type { Column } from './cell.ts'
import { column } from './columns.ts'

/** Columns of a result are told apart by their place: two may have one name. */
export const keyOf = (index: number): string => `c${index}`

/** A type without what wraps it: `LowCardinality(Nullable(String))` is a `String`. */
export const plainType = (type: string): string => {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type)?.[1]
  return inner === undefined ? type : plainType(inner)
}

export const isNumber = (type: string): boolean => /^(?:U?Int|Float|BFloat|Decimal)/.test(plainType(type))
export const isInstant = (type: string): boolean => plainType(type).startsWith('Date')

/** The columns of a result, with their values as the host wrote them. */
export const resultColumns = (columns: readonly ResultColumn[]): Column[] =>
  columns.map(({ name, type }, index) => ({
    ...column(keyOf(index), name, 'code', { doc: type }),
    flushRight: isNumber(type),
    isExact: true,
  }))

/** The rows of a result by the keys of its columns. */
export const resultRows = ({ columns, rows }: Result['data']): Row[] =>
  rows.map((row) => Object.fromEntries(columns.map((_, index) => [keyOf(index), shown(row[index])])))

const shown = (value: unknown): unknown =>
  (typeof value === 'object' && value !== null) || typeof value === 'boolean' ? JSON.stringify(value) : value

/** A value as it stands in a text: what is null, what is empty and what is written so stay apart in a table by their looks. */
export const exactText = (value: unknown): string => (value === null || value === undefined ? 'NULL' : String(value))
