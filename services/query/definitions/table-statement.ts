import type { TableRequest } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import { lookbackParameter } from '#proto/lookback.ts'
import { quoteName } from '#shared/sql/statement-text.ts'
import { type RotatedLogExpressions, selectSqlBranch } from '../clickhouse/capabilities.ts'
import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { buildCellTextSql, buildFilterCondition, buildSearchCondition, type FilterCondition } from './conditions.ts'
import { buildCursorCondition } from './cursor.ts'
import type { LoadedTable } from './load.ts'
import { expandMacros } from './macros.ts'
import { bindParameters, rejectUnknownParameters } from './parameters.ts'
import { readsKeeper } from './check.ts'
import { resolveTableWindow } from './window.ts'

/** The request fields that select the rows of a page. */
export type RowSelection = Pick<
  TableRequest,
  'filters' | 'from' | 'lastHours' | 'lastMinutes' | 'parameters' | 'search' | 'to'
>
/** The request fields that select, sort and page the rows. */
export type TableSelection = RowSelection & Pick<TableRequest, 'cursor' | 'offset' | 'sort'>

export interface TableStatementContext {
  serverVersion: string
  logs: RotatedLogExpressions
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
  const after = buildCursorCondition(table, request)
  const selected = select(table, request, circumstances, after)
  if (!selected) return undefined
  const { offset } = request
  const rows = circumstances.limit === undefined ? undefined : circumstances.limit + 1
  const order = findLogOrder(table, request)
  const isCut = order !== undefined && rows !== undefined
  const cut = isCut ? [buildLogCutoff(selected, order, rows + offset)] : []
  const lines = [
    `SELECT ${table.columns.map((column) => quoteName(column.name)).join(', ')}`,
    ...toLines(selected.from, [...selected.conditions, ...cut]),
    orderBy(table, request),
    ...(rows === undefined ? [] : [`LIMIT ${rows}`]),
    ...(offset > 0 ? [`OFFSET ${offset}`] : []),
  ]
  // With several threads, each would read a part of the log that the cutoff excludes.
  const limits = isCut && request.filters.length === 0 ? { limits: { max_threads: 1 } } : {}
  return { what: `table/${table.name}`, sql: lines.join('\n'), ...selected.sent, ...limits }
}

/** Returns how a page sorts by the time of its log; undefined for other pages, and if a condition reads long texts. */
const findLogOrder = (table: LoadedTable, { sort, search, filters }: TableSelection): 'ASC' | 'DESC' | undefined => {
  const chosen = sort ?? table.sort
  const texts = new Set(table.columns.filter(({ format }) => format === 'query').map(({ name }) => name))
  const readsTexts = Boolean(search) || filters.some(({ column }) => texts.has(column))
  if (table.logTime === undefined || chosen?.column !== table.logTime || readsTexts) return undefined
  return chosen.direction === 'desc' ? 'DESC' : 'ASC'
}

/**
 * Returns a condition that excludes log rows beyond the last row of a page. Its subquery finds the time of this row and
 * reads only the time columns and those of the filters.
 */
const buildLogCutoff = ({ from, conditions }: Selection, order: 'ASC' | 'DESC', rows: number): string => {
  const [comparison, last] = order === 'DESC' ? ['>=', 'minOrNull'] : ['<=', 'maxOrNull']
  const newest = `ORDER BY event_date ${order}, event_time ${order} LIMIT ${rows}`
  const times = ['SELECT event_time', ...toLines(from, conditions), newest].join('\n')
  return `event_time ${comparison} (SELECT ${last}(event_time) FROM (\n${times}\n))`
}

/** Returns the statement that counts all rows of a page that match its filters. */
export const buildTotalStatement = (
  table: LoadedTable,
  request: RowSelection,
  circumstances: TableStatementContext,
): Statement | undefined => {
  const selected = select(table, request, circumstances)
  if (!selected) return undefined
  const sql = ['SELECT count() AS total', ...toLines(selected.from, selected.conditions)].join('\n')
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
    ...toLines(selected.from, selected.conditions),
    'GROUP BY filter_option',
    'ORDER BY filter_option_rows DESC, filter_option',
    `LIMIT ${request.limit + 1}`,
  ]
  return { what: `table/${table.name}/options`, sql: lines.join('\n'), ...selected.sent, cache: 'standard' }
}

interface Selection {
  from: string
  conditions: readonly string[]
}

const toLines = (from: string, conditions: readonly string[]): string[] => [
  `FROM (\n${from}\n)`,
  ...(conditions.length > 0 ? [`WHERE ${conditions.join('\n  AND ')}`] : []),
]

/** Returns the SQL of a page, the conditions on its rows, and the remaining fields of the statement. */
const select = (
  table: LoadedTable,
  request: RowSelection,
  { serverVersion, logs, zone }: TableStatementContext,
  after?: FilterCondition,
) => {
  rejectUnknownParameters(table.parameters, request.parameters)
  const window = resolveTableWindow(table, request)
  const given = {
    ...request.parameters,
    ...(request.lastHours !== undefined && { [lookbackParameter]: request.lastHours }),
  }
  const conditions = conditionsOf(table, request)
  const parameters = { ...bindParameters(table.parameters, given), ...conditions.parameters, ...after?.parameters }
  const sql = selectSqlBranch(table.sql, serverVersion)
  if (sql === undefined) return undefined
  const from = expandMacros(sql.trim(), { window, zone, logs })
  // Hosts write their logs every few seconds, so a recent page of a log is as good as a new one.
  const cache = sql.includes('$log(') ? ('realtime' as const) : undefined
  const sent = { hot: true as const, parameters, bare: table.bare, readsKeeper: readsKeeper(from), cache }
  return { from, conditions: [...conditions.sql, ...(after ? [after.sql] : [])], sent }
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
 * Sorts by the requested column, else by the default of the page, and then by the key, else by all other columns. Only
 * identical rows have an undefined order, so consecutive pages neither repeat nor skip a row.
 */
const orderBy = (table: LoadedTable, { sort }: TableSelection): string => {
  const chosen = sort ?? table.sort
  const name = chosen && requireColumn(table, chosen.column, 'sort').name
  const first = chosen ? [`${quoteName(chosen.column)} ${chosen.direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`] : []
  const all = table.key ?? table.columns.map((column) => column.name)
  const others = all.filter((each) => each !== name).map(quoteName)
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
