import type { ResultColumn } from '#proto/console.ts'
import type { Row } from '#proto/query.ts'
import type { StatementResult } from '#lib/api/console.ts'
import type { Column } from './cell.ts'
import { createColumn } from './columns.ts'

/** Returns the key of a result column. Columns are identified by position, as names may repeat. */
export const getResultColumnKey = (index: number): string => `c${index}`

/** Unwraps a type: `LowCardinality(Nullable(String))` becomes `String`. */
export const unwrapType = (type: string): string => {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/s.exec(type)?.[1]
  return inner === undefined ? type : unwrapType(inner)
}

export const isNumericType = (type: string): boolean => /^(?:U?Int|Float|BFloat|Decimal)/.test(unwrapType(type))
export const isDateType = (type: string): boolean => unwrapType(type).startsWith('Date')

/** Returns table columns for a result, with values as the host wrote them. */
export const toTableColumns = (columns: readonly ResultColumn[]): Column[] =>
  columns.map(({ name, type }, index) => ({
    ...createColumn(getResultColumnKey(index), name, 'code', { doc: type }),
    flushRight: isNumericType(type),
    isExact: true,
  }))

/** Returns table rows for a result. */
export const toTableRows = ({ columns, rows }: StatementResult['data']): Row[] =>
  rows.map((row) => Object.fromEntries(columns.map((_, index) => [getResultColumnKey(index), toCellValue(row[index])])))

const toCellValue = (value: unknown): unknown =>
  (typeof value === 'object' && value !== null) || typeof value === 'boolean' ? JSON.stringify(value) : value

/** Returns a value as text, with `NULL` for null. */
export const formatExactText = (value: unknown): string =>
  value === null || value === undefined ? 'NULL' : String(value)
