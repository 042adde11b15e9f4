import type { TableRequest } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import { lookBack } from '#proto/look-back.ts'
import { quoteName } from '#shared/sql/quote.ts'
import { type RotatedLogs, sqlFor } from '../clickhouse/capabilities.ts'
import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { cellText, condition, searchCondition } from './conditions.ts'
import type { LoadedTable } from './load.ts'
import { expandMacros } from './macros.ts'
import { bindParameters, refuseUnknown } from './parameters.ts'
import { readsKeeper } from './check.ts'
import { tableWindow } from './window.ts'

/** What selects the rows of a page. */
export type Selecting = Pick<TableRequest, 'filters' | 'from' | 'lastHours' | 'parameters' | 'search' | 'to'>
/** What selects, orders and pages them. */
export type Asked = Selecting & Pick<TableRequest, 'offset' | 'sort'>

export interface TableCircumstances {
  serverVersion: string
  logs: RotatedLogs
  zone: string | undefined
}

interface Circumstances extends TableCircumstances {
  /** Rows that will be shown; one more is asked for, to know whether there are more. */
  limit: number | undefined
}

/** The statement of a table page on a server, with what the reader asked for wrapped around its SQL; none when the server is too old. */
export const tableStatement = (
  table: LoadedTable,
  asked: Asked,
  circumstances: Circumstances,
): Statement | undefined => {
  const selected = select(table, asked, circumstances)
  if (!selected) return undefined
  const lines = [
    `SELECT ${table.columns.map((column) => quoteName(column.name)).join(', ')}`,
    ...selected.lines,
    orderBy(table, asked),
    ...(circumstances.limit === undefined ? [] : [`LIMIT ${circumstances.limit + 1}`]),
    ...(asked.offset > 0 ? [`OFFSET ${asked.offset}`] : []),
  ]
  return { what: `table/${table.name}`, sql: lines.join('\n'), ...selected.sent }
}

/** The statement that counts all rows of a page that its filters leave. */
export const totalStatement = (
  table: LoadedTable,
  asked: Selecting,
  circumstances: TableCircumstances,
): Statement | undefined => {
  const selected = select(table, asked, circumstances)
  if (!selected) return undefined
  const sql = ['SELECT count() AS total', ...selected.lines].join('\n')
  return { what: `table/${table.name}/total`, sql, ...selected.sent }
}

/** The statement that tells the values of a column, those of most rows first, and one more than is shown. */
export const optionsStatement = (
  table: LoadedTable,
  asked: Selecting & { column: string; limit: number },
  circumstances: TableCircumstances,
): Statement | undefined => {
  const selected = select(table, asked, circumstances)
  if (!selected) return undefined
  const lines = [
    `SELECT ${cellText(declared(table, asked.column, 'column'))} AS filter_option, count() AS filter_option_rows`,
    ...selected.lines,
    'GROUP BY filter_option',
    'ORDER BY filter_option_rows DESC, filter_option',
    `LIMIT ${asked.limit + 1}`,
  ]
  return { what: `table/${table.name}/options`, sql: lines.join('\n'), ...selected.sent, cache: 'standard' }
}

/** FROM and WHERE around the SQL of a page, and what is sent with it. */
const select = (table: LoadedTable, asked: Selecting, { serverVersion, logs, zone }: TableCircumstances) => {
  refuseUnknown(table.parameters, asked.parameters)
  const window = tableWindow(table, asked)
  const given = { ...asked.parameters, ...(asked.lastHours !== undefined && { [lookBack]: asked.lastHours }) }
  const conditions = conditionsOf(table, asked)
  const parameters = { ...bindParameters(table.parameters, given), ...conditions.parameters }
  const sql = sqlFor(table.sql, serverVersion)
  if (sql === undefined) return undefined
  const expanded = expandMacros(sql.trim(), { window, zone, logs })
  const where = conditions.sql.length > 0 ? [`WHERE ${conditions.sql.join('\n  AND ')}`] : []
  const sent = { hot: true as const, parameters, bare: table.bare, readsKeeper: readsKeeper(expanded) }
  return { lines: [`FROM (\n${expanded}\n)`, ...where], sent }
}

const conditionsOf = (table: LoadedTable, { filters, search }: Selecting) => {
  const found = filters.map((filter, index) =>
    condition(declared(table, filter.column, 'filter'), filter, `filter_${index}`),
  )
  if (search !== undefined && search !== '') found.push(searchCondition(table.columns, search))
  const parameters: Record<string, ParameterValue> = Object.assign({}, ...found.map((each) => each.parameters))
  return { sql: found.map((each) => each.sql), parameters }
}

/**
 * By the asked column, else the page's own; all others decide between equals, the first one first. So only rows that
 * cannot be told apart are in no order, and pages that follow one another neither repeat a row nor leave one out.
 */
const orderBy = (table: LoadedTable, { sort }: Asked): string => {
  const chosen = sort ?? table.sort
  const name = chosen && declared(table, chosen.column, 'sort').name
  const first = chosen ? [`${quoteName(chosen.column)} ${chosen.direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`] : []
  const others = table.columns.filter((column) => column.name !== name).map((column) => quoteName(column.name))
  return `ORDER BY ${[...first, ...others].join(', ')}`
}

const declared = (
  table: LoadedTable,
  name: string,
  parameter: 'column' | 'filter' | 'sort',
): LoadedTable['columns'][number] => {
  const column = table.columns.find((each) => each.name === name)
  if (column) return column
  const columns = table.columns.map((each) => each.name)
  throw new ServiceError('invalid', `no such column: ${name}; there are ${columns.join(', ')}`, {
    details: { parameter, columns },
  })
}
