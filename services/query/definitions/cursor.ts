import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { TableRequest } from '#proto/query.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { parseJson } from '#shared/text/strings.ts'
import type { ParameterValue } from '../clickhouse/statement.ts'
import { type FilterCondition, numericFormats } from './conditions.ts'
import type { LoadedTable } from './load.ts'

type PageTable = Pick<LoadedTable, 'columns' | 'key' | 'logTime' | 'sort'>
type PageOrder = Pick<TableRequest, 'sort'>

/** The order of a page, and the values of the last row in this order. */
const Cursor = z.tuple([z.string(), z.enum(['asc', 'desc'])], z.union([z.string(), z.number(), z.boolean()]))

/** Formats whose cells cannot be the sort value of a cursor. */
const unordered = new Set(['list', 'boolean'])

/** Returns the columns that order the rows of a page, the sort column first; undefined if it has no cursor. */
const findOrder = ({ columns, key, sort: usual }: PageTable, { sort }: PageOrder) => {
  const chosen = sort ?? usual
  if (!chosen || !key) return undefined
  const names = [chosen.column, ...key.filter((name) => name !== chosen.column)]
  const found = names.flatMap((name) => columns.find((column) => column.name === name) ?? [])
  if (found.length < names.length || found.some(({ format }) => unordered.has(format))) return undefined
  return { direction: chosen.direction, columns: found }
}

/** Returns the cursor of the page after a row; null if the page has none, or a value of the row is null. */
export const createCursor = (table: PageTable, request: PageOrder, lastRow: string): string | null => {
  const order = findOrder(table, request)
  const row = z.record(z.string(), z.unknown()).safeParse(parseJson(lastRow))
  if (!order || !row.success) return null
  const [first] = order.columns
  // Some hosts quote 64-bit integers.
  const values = order.columns.map(({ name, format }) => {
    const value = row.data[name]
    return numericFormats.has(format) && typeof value === 'string' ? Number(value) : value
  })
  const cursor = Cursor.safeParse([first?.name, order.direction, ...values])
  return cursor.success ? Buffer.from(JSON.stringify(cursor.data)).toString('base64url') : null
}

/** Returns the condition that selects the rows after a cursor. Throws `invalid` for a cursor of another order. */
export const buildCursorCondition = (
  table: PageTable,
  { cursor, sort }: Pick<TableRequest, 'cursor' | 'sort'>,
): FilterCondition | undefined => {
  if (cursor === undefined) return undefined
  const parsed = Cursor.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString('utf8')))
  const order = findOrder(table, { sort })
  const [name, direction, ...values] = parsed.data ?? []
  const isSame = order?.columns[0]?.name === name && order?.direction === direction
  if (!order || !isSame || values.length !== order.columns.length) throw invalidCursor()
  const parameters: Record<string, ParameterValue> = {}
  const sides = order.columns.map((column, index) => {
    const isNumeric = numericFormats.has(column.format)
    if (isNumeric !== (typeof values[index] === 'number')) throw invalidCursor()
    parameters[`cursor_${index}`] = values[index] ?? null
    return { column: quoteName(column.name), value: `{cursor_${index}:${isNumeric ? 'Float64' : 'String'}}` }
  })
  const [first, ...others] = sides
  const tie = `(${others.map(({ column }) => column).join(', ')}) > (${others.map(({ value }) => value).join(', ')})`
  const beyond = `${first?.column} ${direction === 'desc' ? '<' : '>'} ${first?.value}`
  const isAfter = `(${beyond} OR ${first?.column} IS NULL${others.length > 0 ? ` OR (${first?.column} = ${first?.value} AND ${tie})` : ''})`
  // A condition on the primary key of the log lets the host skip the rows before the page.
  const bound = `event_time ${direction === 'desc' ? '<=' : '>='} toDateTime(intDiv(toInt64({cursor_0:Float64}), 1000))`
  return { sql: name === table.logTime ? `${bound} AND ${isAfter}` : isAfter, parameters }
}

const invalidCursor = (): ServiceError =>
  new ServiceError('invalid', 'invalid cursor; use "nextCursor" of a page with the same sort order', {
    details: { parameter: 'cursor' },
  })
