import { queryOptions } from '@tanstack/svelte-query'
import type { Interval } from '#proto/catalogue.ts'
import type { ExplainMode, ExplainSettings } from '#proto/explain.ts'
import { call, type ResponseBody, type RouteData, type RouteParameters } from './call.ts'
import type { TimeWindowParameters } from './queries.ts'

export type PatternResponse = ResponseBody<'GET /api/v1/insights/query-patterns/{hash}'>
export type QueryPattern = NonNullable<PatternResponse['data']>
export type LoggedQueryDetail = NonNullable<RouteData<'GET /api/v1/queries/{queryId}'>>
export type ExplainResult = RouteData<'GET /api/v1/explain'>
export type Advice = ResponseBody<'POST /api/v1/advice'>

export interface PatternListInput {
  order: RouteParameters<'GET /api/v1/insights/query-patterns'>['order']
  search: string
  user: string
  own: boolean
  limit: number
  offset: number
}

/** Query for query patterns, in descending order of the selected column. */
export const patternsQuery = (host: number, window: TimeWindowParameters, { own, ...input }: PatternListInput) => {
  const query = { hostId: host, ...window, ...input, own: own ? '1' : null }
  return queryOptions({
    queryKey: ['patterns', host, query],
    queryFn: ({ signal }) => call('GET /api/v1/insights/query-patterns', { query, signal }),
  })
}

export interface PatternChangesInput {
  measure: RouteParameters<'GET /api/v1/insights/query-pattern-changes'>['measure']
  /** How far the compared range is before the shown one, in seconds. */
  compareOffset: number
  search: string
  user: string
  own: boolean
}

/** Query for the differences between the query patterns of two ranges. */
export const patternChangesQuery = (
  host: number,
  window: TimeWindowParameters,
  { own, ...input }: PatternChangesInput,
) => {
  const query = { hostId: host, ...window, ...input, own: own ? '1' : null }
  return queryOptions({
    queryKey: ['pattern-changes', host, query],
    queryFn: ({ signal }) => call('GET /api/v1/insights/query-pattern-changes', { query, signal }),
  })
}

export interface PatternDetailInput {
  window: TimeWindowParameters
  interval: Interval
  timezone: string | null
}

/** Query for one query pattern with its trends, tables and regressions. */
export const patternQuery = (host: number, hash: string, { window, interval, timezone }: PatternDetailInput) =>
  queryOptions({
    queryKey: ['pattern', host, hash, window, interval, timezone],
    queryFn: ({ signal }) =>
      call('GET /api/v1/insights/query-patterns/{hash}', {
        path: { hash },
        query: { hostId: host, ...window, interval, timezone },
        signal,
      }),
  })

export interface ExecutionsInput {
  window: TimeWindowParameters
  minMs: number | null
  maxMs: number | null
}

/** Query for the executions of a pattern within a range of durations, longest first. */
export const executionsQuery = (host: number, hash: string, { window, minMs, maxMs }: ExecutionsInput) =>
  queryOptions({
    queryKey: ['executions', host, hash, window, minMs, maxMs],
    queryFn: ({ signal }) =>
      call('GET /api/v1/insights/query-patterns/{hash}/executions', {
        path: { hash },
        query: { hostId: host, ...window, minMs, maxMs },
        signal,
      }),
  })

/** Query for one logged query with its details from all log tables. */
export const queryDetailQuery = (host: number, queryId: string) =>
  queryOptions({
    queryKey: ['query', host, queryId],
    queryFn: ({ signal }) =>
      call('GET /api/v1/queries/{queryId}', { path: { queryId }, query: { hostId: host }, signal }),
  })

export interface ExplainInput {
  query: string
  mode: ExplainMode
  planSettings?: ExplainSettings | undefined
  database?: string | undefined
}

/** Query for the plan of a statement. EXPLAIN may execute parts of the statement, so the plan is not refreshed. */
export const explainQuery = (host: number, input: ExplainInput) =>
  queryOptions({
    queryKey: ['explain', host, input],
    enabled: input.query.trim() !== '',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => call('POST /api/v1/explain', { signal, body: { hostId: host, ...input } }),
  })

/** A statement, or the id of a logged query. */
export type AdviceInput = { query: string; database?: string } | { queryId: string }

/** Query for recommendations for a statement. The host tests them on its data, so they are fetched once. */
export const adviceQuery = (host: number, input: AdviceInput) =>
  queryOptions({
    queryKey: ['advice', host, input],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => call('POST /api/v1/advice', { signal, body: { hostId: host, ...input } }),
  })
