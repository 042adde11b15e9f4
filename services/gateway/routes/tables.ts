import type { z } from 'zod'
import { TableAnswer, TableListAnswer } from '#proto/http/data.ts'
import { DefaultHostQuery, TableQuery } from '#proto/http/parameters.ts'
import type { TableRequest } from '#proto/query.ts'
import { ServiceError } from '#proto/errors.ts'
import { getRoute, rowsRoute } from '../route.ts'
import { success } from '../success.ts'

export const tableList = getRoute({
  path: '/api/v1/tables',
  feature: 'TABLES',
  access: 'read',
  limit: 'data',
  query: DefaultHostQuery,
  answer: TableListAnswer,
  handle: async ({ query: { hostId }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    return success(await gateway.query.databaseTables({ hostKey: key }, call), { host: name })
  },
})

export const table = rowsRoute({
  path: '/api/v1/tables/{name}',
  feature: null,
  access: 'read',
  limit: 'data',
  query: TableQuery,
  answer: TableAnswer,
  handle: async ({ path: { name }, query, call }, gateway) => {
    const { key } = await gateway.hosts.find(query.hostId)
    const { head, frames, tail } = await gateway.query.table({ hostKey: key, name, ...tableRequest(query) }, call)
    const metadata = () => {
      const { truncated, statement } = tail()
      return { ...statement, ...head, truncated }
    }
    return { frames, metadata }
  },
})

/** Values a page may be given for the parameters that it declares. */
const maxParameters = 20

/** What the parameters of the URL ask of `query`. */
export const tableRequest = (
  query: z.output<typeof TableQuery>,
): Omit<z.input<typeof TableRequest>, 'hostKey' | 'name'> => {
  const { hostId: _hostId, sort, filter, search, limit: rows, pageSize, page, offset, timezone, ...parameters } = query
  const limit = rows ?? pageSize
  const skipped = page === undefined || limit === undefined ? offset : (page - 1) * limit
  if (Object.keys(parameters).length > maxParameters) {
    throw new ServiceError('invalid', `more than ${maxParameters} parameters that are no part of every table page`)
  }
  return { sort, filters: filter, search, limit, offset: skipped, timezone, parameters }
}
