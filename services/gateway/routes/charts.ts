import type { Call } from '#proto/call.ts'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import { ChartAnswer, ChartBatchAnswer } from '#proto/http/data.ts'
import { ChartBatchRequest, ChartQuery, noQuery } from '#proto/http/parameters.ts'
import type { ChartResult } from '#proto/query.ts'
import { shown } from '../response/answer-failure.ts'
import { explained } from '../features/refusal.ts'
import type { Gateway } from '../gateway.ts'
import { getRoute, postRoute, type Route } from '../http-route.ts'
import { success } from '../response/envelope.ts'

const chart = getRoute({
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

const chartBatch = postRoute({
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
    const results = await gateway.query.charts({ hostKey: key, ...asked, parameters: params }, call)
    const data = Object.entries(results).map(([chart, result]) => [chart, answered(result, call, gateway)])
    return success(Object.fromEntries(data), { host: name })
  },
})

/** A chart that failed says what it would have said alone. */
const answered = (result: ChartResult, { identity }: Call, gateway: Gateway): ChartResult => {
  if (result.ok) return result
  const { code, message, details } = result.error
  // A newer release may know further codes.
  if (!isErrorCode(code)) return result
  const failed = new ServiceError(code, message, details && { details })
  const { type, ...said } = shown(explained(failed, identity, gateway.policy()))
  return { ok: false, error: { code: type, message: said.message, ...(said.details && { details: said.details }) } }
}

export const chartRoutes: readonly Route[] = [chartBatch, chart]
