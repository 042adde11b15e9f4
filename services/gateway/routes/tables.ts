import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { TableResponse, TableListResponse, FilterOptionsResponse } from '#proto/http/data.ts'
import { TableListQuery, TableQuery, FilterOptionsQuery } from '#proto/http/parameters.ts'
import type { TableRequest } from '#proto/query.ts'
import type { Gateway } from '../gateway.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { defineGetRoute, defineRowsRoute, type Route } from '../http-route.ts'
import { resolveExportFormat, exportMediaTypes, exportTablePage } from './table-export.ts'

const tableList = defineGetRoute({
  path: '/api/v1/tables',
  doc: 'Lists names of tables outside the system databases, for autocompletion',
  feature: 'TABLES',
  access: 'read',
  limit: 'data',
  query: TableListQuery,
  answer: TableListResponse,
  handle: async ({ query: { hostId, search, limit }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const tables = await gateway.query.databaseTables({ hostKey: key, search, limit: limit + 1 }, call)
    return createSuccessBody(tables.slice(0, limit), { host: name, truncated: tables.length > limit })
  },
})

const table = defineRowsRoute({
  path: '/api/v1/tables/{name}',
  doc: 'Returns the rows of one table page, as JSON or as a file',
  downloads: exportMediaTypes,
  feature: null,
  access: 'read',
  limit: 'data',
  query: TableQuery,
  answer: TableResponse,
  handle: async ({ path: { name }, query, call, preferred }, gateway) => {
    const { key, name: host } = await gateway.hosts.find(query.hostId)
    const request = { hostKey: key, name, ...tableRequest(query) }
    const format = resolveExportFormat(query.format, preferred)
    return format ? exportTablePage(gateway, { ...request, format }, host, call) : rows(gateway, request, call)
  },
})

const rows = async (gateway: Gateway, request: z.input<typeof TableRequest>, call: CallContext) => {
  const { head, frames, tail } = await gateway.query.table(request, call)
  const metadata = () => {
    const { truncated, total = null, nextCursor = null, statement } = tail()
    return { ...statement, ...head, truncated, total, nextCursor }
  }
  return { frames, metadata }
}

/** Converts the query parameters to a request to `query`. */
const tableRequest = ({
  hostId: _hostId,
  sort,
  filter: filters,
  search,
  limit: rows,
  pageSize,
  page,
  offset,
  cursor,
  timezone,
  lastHours,
  lastMinutes,
  from,
  to,
  total,
  format: _format,
  ...others
}: z.output<typeof TableQuery>): Omit<z.input<typeof TableRequest>, 'hostKey' | 'name'> => {
  const limit = rows ?? pageSize
  const skipped = page === undefined || limit === undefined ? offset : (page - 1) * limit
  const parameters = pageParameters(others)
  const paging = { limit, offset: skipped, page, cursor }
  return { sort, filters, search, ...paging, timezone, lastHours, lastMinutes, from, to, total, parameters }
}

const filterOptions = defineGetRoute({
  path: '/api/v1/tables/{name}/filter-options',
  doc: 'Lists the values of one column of a table page, most frequent first',
  feature: null,
  access: 'read',
  limit: 'data',
  query: FilterOptionsQuery,
  answer: FilterOptionsResponse,
  handle: async ({ path: { name }, query, call }, gateway) => {
    const { hostId, column, filter: filters, search, timezone, lastHours, lastMinutes, from, to, ...others } = query
    const { key, name: host } = await gateway.hosts.find(hostId)
    const span = { lastHours, lastMinutes, from, to }
    const parameters = pageParameters(others)
    const request = { hostKey: key, name, column, filters, search, timezone, ...span, parameters }
    const { options, truncated, unavailable } = await gateway.query.filterOptions(request, call)
    return createSuccessBody(options, { host, column, truncated, unavailable })
  },
})

/** Maximum number of page-specific parameters. */
const maxParameters = 20

/** Returns the parameters that the table page itself defines; throws `invalid` if there are too many. */
const pageParameters = (others: Record<string, string>): Record<string, string> => {
  if (Object.keys(others).length <= maxParameters) return others
  throw new ServiceError('invalid', `too many parameters for this table page: the maximum is ${maxParameters}`)
}

export const tableRoutes: readonly Route[] = [tableList, table, filterOptions]
