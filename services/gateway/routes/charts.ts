import type { CallContext } from '#proto/call.ts'
import { isErrorCode, ServiceError } from '#proto/errors.ts'
import { ChartResponse, ChartBatchResponse } from '#proto/http/data.ts'
import { ChartBatchRequest, ChartQuery, noQuery } from '#proto/http/parameters.ts'
import type { ChartResult } from '#proto/query.ts'
import { toPublicError } from '../response/error-response.ts'
import { explainForbiddenError } from '../features/authorization.ts'
import type { Gateway } from '../gateway.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { createSuccessBody } from '../response/envelope.ts'

const chart = defineGetRoute({
  path: '/api/v1/charts/{name}',
  doc: 'Returns the series of one chart',
  feature: null,
  access: 'read',
  limit: 'data',
  query: ChartQuery,
  answer: ChartResponse,
  handle: async ({ path: { name }, query: { hostId, parameters, params, ...window }, call }, gateway) => {
    const { key } = await gateway.hosts.find(hostId)
    const chartRequest = { hostKey: key, name, ...window, parameters: parameters ?? params }
    const { rows, statement, window: used, ...data } = await gateway.query.chart(chartRequest, call)
    return createSuccessBody(rows, { ...statement, ...data, window: used })
  },
})

const chartBatch = definePostRoute({
  path: '/api/v1/charts/batch',
  doc: 'Returns several charts of one host and time window; each can fail separately',
  feature: null,
  access: 'read',
  limit: 'data',
  query: noQuery,
  body: ChartBatchRequest,
  answer: ChartBatchResponse,
  handle: async ({ body: { hostId, params, ...batch }, call }, gateway) => {
    const { key, name } = await gateway.hosts.find(hostId)
    const results = await gateway.query.charts({ hostKey: key, ...batch, parameters: params }, call)
    const data = Object.entries(results).map(([chart, result]) => [chart, explainFailure(result, call, gateway)])
    return createSuccessBody(Object.fromEntries(data), { host: name })
  },
})

/** Converts the error of a failed chart to the error that the route of a single chart would return. */
const explainFailure = (result: ChartResult, { identity }: CallContext, gateway: Gateway): ChartResult => {
  if (result.ok) return result
  const { code, message, details } = result.error
  // Newer releases may return further codes.
  if (!isErrorCode(code)) return result
  const failed = new ServiceError(code, message, details && { details })
  const { type, ...failure } = toPublicError(explainForbiddenError(failed, identity, gateway.policy()))
  return {
    ok: false,
    error: { code: type, message: failure.message, ...(failure.details && { details: failure.details }) },
  }
}

export const chartRoutes: readonly Route[] = [chartBatch, chart]
