import { queryOptions } from '@tanstack/svelte-query'
import { call, type ResponseBody, type RouteParameters } from './call.ts'

/** Query key prefix of all insight queries, so that a scan invalidates them together. */
export const insightsKey = ['insights'] as const

export type Insights = ResponseBody<'GET /api/v1/insights'>
export type Insight = Insights['data'][number]
export type Forecast = ResponseBody<'GET /api/v1/insights/forecast'>['data'][number]
export type PendingForecast = ResponseBody<'GET /api/v1/insights/forecast'>['metadata']['awaited'][number]

export interface InsightsInput {
  host: number
  lastHours: number
  severity: RouteParameters<'GET /api/v1/insights'>['severity'] | null
  dismissed: boolean
}

export const insightsQuery = ({ host, lastHours, severity, dismissed }: InsightsInput) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'list', lastHours, severity, dismissed],
    queryFn: ({ signal }) => {
      const query = { hostId: host, lastHours, severity, dismissed: dismissed ? '1' : null }
      return call('GET /api/v1/insights', { query, signal })
    },
  })

/** Query for the storage backend of insights and the result of the last scan. */
export const insightStatusQuery = (host: number) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'status'],
    queryFn: ({ signal }) => call('GET /api/v1/insights/status', { query: { hostId: host }, signal }),
  })

/** Query for forecasts of when resources run out. The refresh interval does not apply, as they are expensive. */
export const forecastQuery = (host: number) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'forecast'],
    queryFn: ({ signal }) => call('GET /api/v1/insights/forecast', { query: { hostId: host }, signal }),
    staleTime: 300_000,
  })

/** Scans a host now, even if the last scan was recent. */
export const generateInsights = (hostId: number) =>
  call('POST /api/v1/insights/generate', { body: { hostId, force: true } })

export const dismissInsight = (hostId: number, id: string, dismissed: boolean) =>
  call('POST /api/v1/insights/dismiss', { body: { hostId, id, dismissed } })
