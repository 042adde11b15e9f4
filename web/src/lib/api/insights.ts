import { queryOptions } from '@tanstack/svelte-query'
import { call, type Answer, type Query } from './call.ts'

/** Every query of insights begins with this key, so that a look at a host renews them all. */
export const insightsKey = ['insights'] as const

export type Insights = Answer<'GET /api/v1/insights'>
export type Insight = Insights['data'][number]
export type Forecast = Answer<'GET /api/v1/insights/forecast'>['data'][number]
export type AwaitedForecast = Answer<'GET /api/v1/insights/forecast'>['metadata']['awaited'][number]

/** What is asked of the insights of a host. */
export interface InsightsAsked {
  host: number
  lastHours: number
  severity: Query<'GET /api/v1/insights'>['severity'] | null
  dismissed: boolean
}

export const insightsQuery = ({ host, lastHours, severity, dismissed }: InsightsAsked) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'list', lastHours, severity, dismissed],
    queryFn: ({ signal }) => {
      const query = { hostId: host, lastHours, severity, dismissed: dismissed ? '1' : null }
      return call('GET /api/v1/insights', { query, signal })
    },
  })

/** Where insights are kept, and what came of the last look. */
export const insightStatusQuery = (host: number) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'status'],
    queryFn: ({ signal }) => call('GET /api/v1/insights/status', { query: { hostId: host }, signal }),
  })

/** When something is full; the host is asked, so once and not with every refresh. */
export const forecastQuery = (host: number) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'forecast'],
    queryFn: ({ signal }) => call('GET /api/v1/insights/forecast', { query: { hostId: host }, signal }),
    staleTime: 300_000,
  })

/** Looks at a host now, however short ago the last look was. */
export const generateInsights = (hostId: number) =>
  call('POST /api/v1/insights/generate', { body: { hostId, force: true } })

export const dismissInsight = (hostId: number, id: string, dismissed: boolean) =>
  call('POST /api/v1/insights/dismiss', { body: { hostId, id, dismissed } })
