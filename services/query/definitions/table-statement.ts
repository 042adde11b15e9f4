import type { TableRequest } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import { lookbackParameter } from '#proto/lookback.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { type RotatedLogs, selectSqlBranch } from '../clickhouse/capabilities.ts'
import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { buildCellTextSql, buildFilterCondition, buildSearchCondition } from './conditions.ts'
import type { LoadedTable } from './load.ts'
import { expandMacros } from './macros.ts'
import { bindParameters, rejectUnknownParameters } from './parameters.ts'
import { readsKeeper } from './check.ts'
import { resolveTableWindow } from './window.ts'

/** The request fields that select the rows of a page. */
export type RowSelection = Pick<TableRequest, 'filters' | 'from' | 'lastHours' | 'parameters' | 'search' | 'to'>
/** The request fields that select, sort and page the rows. */
export type TableSelection = RowSelection & Pick<TableRequest, 'offset' | 'sort'>

export interface TableStatementContext {
  serverVersion: string
  logs: RotatedLogs
  zone: string | undefined
}

interface Circumstances extends TableStatementContext {
  /** The page size. One more row is selected to detect truncation. */
  limit: number | undefined
}

/** Returns the statement of a table page with filters and sorting, or undefined when the server is too old. */
export const buildTableStatement = (
  table: LoadedTable,
  request: TableSelection,
  circumstances: Circumstances,
): Statement | undefined => {
  const selected = select(table, request, circumstances)
  if (!selected) return undefined
  const lines = [
    `SELECT ${table.columns.map((column) => quoteName(column.name)).join(', ')}`,
    ...selected.lines,
    orderBy(table, request),
    ...(circumstances.limit === undefined ? [] : [`LIMIT ${circumstances.limit + 1}`]),
    ...(request.offset > 0 ? [`OFFSET ${request.offset}`] : []),
  ]
  return { what: `table/${table.name}`, sql: lines.join('\n'), ...selected.sent }
}

/** Returns the statement that counts all rows of a page that match its filters. */
export const buildTotalStatement = (
  table: LoadedTable,
  request: RowSelection,
  circumstances: TableStatementContext,
): Statement | undefined => {
  const selected = select(table, request, circumstances)
  if (!selected) return undefined
  const sql = ['SELECT count() AS total', ...selected.lines].join('\n')
  return { what: `table/${table.name}/total`, sql, ...selected.sent }
}

/** Returns the statement for the values of a column, most frequent first. One extra row detects truncation. */
export const buildFilterOptionsStatement = (
  table: LoadedTable,
  request: RowSelection & { column: string; limit: number },
  circumstances: TableStatementContext,
): Statement | undefined => {
  const selected = select(table, request, circumstances)
  if (!selected) return undefined
  const lines = [
    `SELECT ${buildCellTextSql(requireColumn(table, request.column, 'column'))} AS filter_option, count() AS filter_option_rows`,
    ...selected.lines,
    'GROUP BY filter_option',
    'ORDER BY filter_option_rows DESC, filter_option',
    `LIMIT ${request.limit + 1}`,
  ]
  return { what: `table/${table.name}/options`, sql: lines.join('\n'), ...selected.sent, cache: 'standard' }
}

/** Returns the FROM and WHERE lines that wrap the SQL of a page, and the remaining fields of the statement. */
const select = (table: LoadedTable, request: RowSelection, { serverVersion, logs, zone }: TableStatementContext) => {
  rejectUnknownParameters(table.parameters, request.parameters)
  const window = resolveTableWindow(table, request)
  const given = {
    ...request.parameters,
    ...(request.lastHours !== undefined && { [lookbackParameter]: request.lastHours }),
  }
  const conditions = conditionsOf(table, request)
  const parameters = { ...bindParameters(table.parameters, given), ...conditions.parameters }
  const sql = selectSqlBranch(table.sql, serverVersion)
  if (sql === undefined) return undefined
  const expanded = expandMacros(sql.trim(), { window, zone, logs })
  const where = conditions.sql.length > 0 ? [`WHERE ${conditions.sql.join('\n  AND ')}`] : []
  const sent = { hot: true as const, parameters, bare: table.bare, readsKeeper: readsKeeper(expanded) }
  return { lines: [`FROM (\n${expanded}\n)`, ...where], sent }
}

const conditionsOf = (table: LoadedTable, { filters, search }: RowSelection) => {
  const found = filters.map((filter, index) =>
    buildFilterCondition(requireColumn(table, filter.column, 'filter'), filter, `filter_${index}`),
  )
  if (search !== undefined && search !== '') found.push(buildSearchCondition(table.columns, search))
  const parameters: Record<string, ParameterValue> = Object.assign({}, ...found.map((each) => each.parameters))
  return { sql: found.map((each) => each.sql), parameters }
}

/**
 * Sorts by the requested column, else by the default of the page, and then by all others. Only identical rows have an
 * undefined order, so consecutive pages neither repeat nor skip a row.
 */
const orderBy = (table: LoadedTable, { sort }: TableSelection): string => {
  const chosen = sort ?? table.sort
  const name = chosen && requireColumn(table, chosen.column, 'sort').name
  const first = chosen ? [`${quoteName(chosen.column)} ${chosen.direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`] : []
  const others = table.columns.filter((column) => column.name !== name).map((column) => quoteName(column.name))
  return `ORDER BY ${[...first, ...others].join(', ')}`
}

const requireColumn = (
  table: LoadedTable,
  name: string,
  parameter: 'column' | 'filter' | 'sort',
): LoadedTable['columns'][number] => {
  const column = table.columns.find((each) => each.name === name)
  if (column) return column
  const columns = table.columns.map((each) => each.name)
  throw new ServiceError('invalid', `unknown column "${name}"; allowed: ${columns.join(', ')}`, {
    details: { parameter, columns },
  })
}
