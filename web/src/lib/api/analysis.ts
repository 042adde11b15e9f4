import { queryOptions } from '@tanstack/svelte-query'
import type { Interval } from '#proto/catalogue.ts'
import type { ExplainMode, ExplainSettings } from '#proto/explain.ts'
import { call, type Answer, type Data, type Query } from './call.ts'
import type { WindowQuery } from './queries.ts'

export type PatternAnswer = Answer<'GET /api/v1/insights/query-patterns/{hash}'>
export type Pattern = NonNullable<PatternAnswer['data']>
export type Detail = NonNullable<Data<'GET /api/v1/queries/{queryId}'>>
export type Explained = Data<'GET /api/v1/explain'>
export type Advice = Answer<'POST /api/v1/advice'>

export interface PatternsAsked {
  order: Query<'GET /api/v1/insights/query-patterns'>['order']
  search: string
  user: string
  own: boolean
  limit: number
  offset: number
}

/** Patterns of statements, those largest first by what they are ordered by. */
export const patternsQuery = (host: number, window: WindowQuery, { own, ...asked }: PatternsAsked) => {
  const query = { hostId: host, ...window, ...asked, own: own ? '1' : null }
  return queryOptions({
    queryKey: ['patterns', host, query],
    queryFn: ({ signal }) => call('GET /api/v1/insights/query-patterns', { query, signal }),
  })
}

export interface PatternAsked {
  window: WindowQuery
  interval: Interval
  timezone: string | null
}

/** One pattern from all sides. */
export const patternQuery = (host: number, hash: string, { window, interval, timezone }: PatternAsked) =>
  queryOptions({
    queryKey: ['pattern', host, hash, window, interval, timezone],
    queryFn: ({ signal }) =>
      call('GET /api/v1/insights/query-patterns/{hash}', {
        path: { hash },
        query: { hostId: host, ...window, interval, timezone },
        signal,
      }),
  })

export interface ExecutionsAsked {
  window: WindowQuery
  minMs: number | null
  maxMs: number | null
}

/** The executions of a pattern that took so long, longest first. */
export const executionsQuery = (host: number, hash: string, { window, minMs, maxMs }: ExecutionsAsked) =>
  queryOptions({
    queryKey: ['executions', host, hash, window, minMs, maxMs],
    queryFn: ({ signal }) =>
      call('GET /api/v1/insights/query-patterns/{hash}/executions', {
        path: { hash },
        query: { hostId: host, ...window, minMs, maxMs },
        signal,
      }),
  })

/** One query, with everything the logs know of it. */
export const queryDetailQuery = (host: number, queryId: string) =>
  queryOptions({
    queryKey: ['query', host, queryId],
    queryFn: ({ signal }) =>
      call('GET /api/v1/queries/{queryId}', { path: { queryId }, query: { hostId: host }, signal }),
  })

export interface ExplainAsked {
  query: string
  mode: ExplainMode
  planSettings?: ExplainSettings | undefined
  database?: string | undefined
}

/** What the host would do with a statement. Asking may run parts of it, so it is asked once and not with every refresh. */
export const explainQuery = (host: number, asked: ExplainAsked) =>
  queryOptions({
    queryKey: ['explain', host, asked],
    enabled: asked.query.trim() !== '',
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => call('POST /api/v1/explain', { signal, body: { hostId: host, ...asked } }),
  })

/** A statement, or the id of one in the log. */
export type Advised = { query: string; database?: string } | { queryId: string }

/** What would make a statement cheaper; tried out on the data, so once. */
export const adviceQuery = (host: number, asked: Advised) =>
  queryOptions({
    queryKey: ['advice', host, asked],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => call('POST /api/v1/advice', { signal, body: { hostId: host, ...asked } }),
  })
