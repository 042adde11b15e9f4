import { ChartAnswer, ChartBatchAnswer } from '#proto/http/data.ts'
import { ChartBatchRequest, ChartQuery, noQuery } from '#proto/http/parameters.ts'
import { getRoute, postRoute } from '../route.ts'
import { success } from '../success.ts'

export const chart = getRoute({
  path: '/api/v1/charts/{name}',
  doc: 'The series of one chart',
  feature: null,
  access: 'read',
  limit: 'data',
  query: ChartQuery,
  answer: ChartAnswer,
  handle: async ({ path: { name }, query: { hostId, params, ...window }, call }, gateway) => {
    const { key } = await gateway.hosts.find(hostId)
    const question = { hostKey: key, name, ...window, parameters: params }
    const { rows, statement, chart, window: used, unavailable } = await gateway.query.chart(question, call)
    return success(rows, { ...statement, chart, window: used, unavailable })
  },
})

export const chartBatch = postRoute({
  path: '/api/v1/charts/batch',
  doc: 'Several charts of one host over one window; each fails alone',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  body: ChartBatchRequest,
  answer: ChartBatchAnswer,
  handle: async ({ body: { hostId, params, ...asked }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const data = await gateway.query.charts({ hostKey: key, ...asked, parameters: params }, call)
    return success(data, { host: name })
  },
})
