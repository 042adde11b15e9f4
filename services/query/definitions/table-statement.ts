import type { Filter, TableRequest } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import type { ParameterValue, Statement } from '../clickhouse/statement.ts'
import { tableWindow } from './check.ts'
import { condition, searchCondition } from './conditions.ts'
import type { LoadedTable } from './load.ts'
import { expandMacros } from './macros.ts'
import { bindParameters, refuseUnknown } from './parameters.ts'
import { quoteName } from './quote.ts'
import { sqlFor } from './version.ts'

export type Asked = Pick<TableRequest, 'filters' | 'offset' | 'parameters' | 'search' | 'sort'>

interface Circumstances {
  serverVersion: string
  tables: ReadonlySet<string>
  /** Rows that will be shown; one more is asked for, to know whether there are more. */
  limit: number | undefined
  zone: string | undefined
}

/** The statement of a table page on a server, with what the reader asked for wrapped around its SQL; none when the server is too old. */
export const tableStatement = (
  table: LoadedTable,
  asked: Asked,
  circumstances: Circumstances,
): Statement | undefined => {
  refuseUnknown(table.parameters, asked.parameters)
  const sql = sqlFor(table.sql, circumstances.serverVersion)
  if (sql === undefined) return undefined
  const { zone, tables } = circumstances
  const expanded = expandMacros(sql.trim(), { window: tableWindow(table), zone, tables })
  const conditions = conditionsOf(table, asked)
  const lines = [
    `SELECT ${table.columns.map((column) => quoteName(column.name)).join(', ')}`,
    `FROM (\n${expanded}\n)`,
    ...(conditions.sql.length > 0 ? [`WHERE ${conditions.sql.join('\n  AND ')}`] : []),
    orderBy(table, asked),
    ...(circumstances.limit === undefined ? [] : [`LIMIT ${circumstances.limit + 1}`]),
    ...(asked.offset > 0 ? [`OFFSET ${asked.offset}`] : []),
  ]
  const parameters = { ...bindParameters(table.parameters, asked.parameters), ...conditions.parameters }
  return { what: `table/${table.name}`, sql: lines.join('\n'), parameters, bare: table.bare }
}

const conditionsOf = (table: LoadedTable, { filters, search }: Asked) => {
  const found = filters.map((filter, index) =>
    condition(declared(table, filter.column, filter), filter, `filter_${index}`),
  )
  if (search !== undefined && search !== '') found.push(searchCondition(table.columns, search))
  const parameters: Record<string, ParameterValue> = Object.assign({}, ...found.map((each) => each.parameters))
  return { sql: found.map((each) => each.sql), parameters }
}

/** By the asked column, else the page's own; the first column decides between equals, so that pages do not overlap. */
const orderBy = (table: LoadedTable, { sort }: Asked): string => {
  const chosen = sort ?? table.sort
  const first = quoteName(table.columns[0]?.name ?? '')
  if (!chosen) return `ORDER BY ${first}`
  const name = quoteName(declared(table, chosen.column).name)
  const order = `${name} ${chosen.direction === 'desc' ? 'DESC' : 'ASC'} NULLS LAST`
  return `ORDER BY ${name === first ? order : `${order}, ${first}`}`
}

const declared = (table: LoadedTable, name: string, filter?: Filter): LoadedTable['columns'][number] => {
  const column = table.columns.find((each) => each.name === name)
  if (column) return column
  const columns = table.columns.map((each) => each.name)
  throw new ServiceError('invalid', `no such column: ${name}; there are ${columns.join(', ')}`, {
    details: { parameter: filter ? 'filter' : 'sort', columns },
  })
}
