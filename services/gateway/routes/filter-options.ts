import { FilterOptionsAnswer } from '#proto/http/data.ts'
import { FilterOptionsQuery } from '#proto/http/parameters.ts'
import { getRoute } from '../route.ts'
import { success } from '../response/success.ts'
import { pageParameters } from './table-parameters.ts'

export const filterOptions = getRoute({
  path: '/api/v1/tables/{name}/filter-options',
  doc: 'The values of one column of a table page, those of most rows first',
  feature: null,
  access: 'read',
  limit: 'data',
  query: FilterOptionsQuery,
  answer: FilterOptionsAnswer,
  handle: async ({ path: { name }, query, call }, gateway) => {
    const { hostId, column, filter: filters, search, timezone, lastHours, from, to, ...others } = query
    const { key, name: host } = await gateway.hosts.find(hostId)
    const span = { lastHours, from, to }
    const parameters = pageParameters(others)
    const question = { hostKey: key, name, column, filters, search, timezone, ...span, parameters }
    const { options, truncated, unavailable } = await gateway.query.filterOptions(question, call)
    return success(options, { host, column, truncated, unavailable })
  },
})
