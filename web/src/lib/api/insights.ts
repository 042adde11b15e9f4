import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  DismissInsightAnswer,
  ForecastAnswer,
  GenerateInsightsAnswer,
  InsightsAnswer,
  InsightStatusAnswer,
} from '#proto/http/insights.ts'
import { requestJson } from './request.ts'

const base = '/api/v1/insights'

/** Every query of insights begins with this key, so that a look at a host renews them all. */
export const insightsKey = ['insights'] as const

export type Insights = z.infer<typeof InsightsAnswer>
export type Insight = Insights['data'][number]
export type Forecast = z.infer<typeof ForecastAnswer>['data'][number]
export type AwaitedForecast = z.infer<typeof ForecastAnswer>['metadata']['awaited'][number]

/** What is asked of the insights of a host. */
export interface InsightsAsked {
  host: number
  lastHours: number
  severity: string | null
  dismissed: boolean
}

export const insightsQuery = ({ host, lastHours, severity, dismissed }: InsightsAsked) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'list', lastHours, severity, dismissed],
    queryFn: ({ signal }) => {
      const search = new URLSearchParams({
        hostId: String(host),
        lastHours: String(lastHours),
        ...(severity && { severity }),
        ...(dismissed && { dismissed: '1' }),
      })
      return requestJson<Insights>(`${base}?${search}`, { signal })
    },
  })

/** Where insights are kept, and what came of the last look. */
export const insightStatusQuery = (host: number) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'status'],
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof InsightStatusAnswer>>(`${base}/status?hostId=${host}`, { signal }),
  })

/** When something is full; the host is asked, so once and not with every refresh. */
export const forecastQuery = (host: number) =>
  queryOptions({
    queryKey: [...insightsKey, host, 'forecast'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof ForecastAnswer>>(`${base}/forecast?hostId=${host}`, { signal }),
    staleTime: 300_000,
  })

/** Looks at a host now, however short ago the last look was. */
export const generateInsights = (hostId: number) =>
  requestJson<z.infer<typeof GenerateInsightsAnswer>>(`${base}/generate`, { body: { hostId, force: true } })

export const dismissInsight = (hostId: number, id: string, dismissed: boolean) =>
  requestJson<z.infer<typeof DismissInsightAnswer>>(`${base}/dismiss`, { body: { hostId, id, dismissed } })
