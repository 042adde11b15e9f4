import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { Interval } from '#proto/catalogue.ts'
import type { AdviceAnswer } from '#proto/http/advice.ts'
import type {
  ExecutionsAnswer,
  ExplainAnswer,
  QueryDetailAnswer,
  QueryPatternAnswer,
  QueryPatternsAnswer,
} from '#proto/http/analysis.ts'
import type { ExplainMode, ExplainSettings } from '#proto/explain.ts'
import type { WindowQuery } from './queries.ts'
import { requestJson } from './request.ts'

export type Patterns = z.infer<typeof QueryPatternsAnswer>
export type PatternAnswer = z.infer<typeof QueryPatternAnswer>
export type Pattern = NonNullable<PatternAnswer['data']>
export type Detail = NonNullable<z.infer<typeof QueryDetailAnswer>['data']>
export type Explained = z.infer<typeof ExplainAnswer>['data']
export type Advice = z.infer<typeof AdviceAnswer>

/** Parameters of a URL; those that are not given are left out. */
const search = (given: Record<string, string | number | null | undefined>): URLSearchParams =>
  new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) => (value == null || value === '' ? [] : [[name, String(value)]])),
  )

const base = '/api/v1/insights/query-patterns'

export interface PatternsAsked {
  order: string
  search: string
  user: string
  own: boolean
  limit: number
  offset: number
}

/** Patterns of statements, those largest first by what they are ordered by. */
export const patternsQuery = (host: number, window: WindowQuery, { own, ...asked }: PatternsAsked) => {
  const query = search({ hostId: host, ...window, ...asked, own: own ? 1 : null })
  return queryOptions({
    queryKey: ['patterns', host, query.toString()],
    queryFn: ({ signal }) => requestJson<Patterns>(`${base}?${query}`, { signal }),
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
      requestJson<PatternAnswer>(
        `${base}/${encodeURIComponent(hash)}?${search({ hostId: host, ...window, interval, timezone })}`,
        { signal },
      ),
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
      requestJson<z.infer<typeof ExecutionsAnswer>>(
        `${base}/${encodeURIComponent(hash)}/executions?${search({ hostId: host, ...window, minMs, maxMs })}`,
        { signal },
      ),
  })

/** One query, with everything the logs know of it. */
export const queryDetailQuery = (host: number, queryId: string) =>
  queryOptions({
    queryKey: ['query', host, queryId],
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof QueryDetailAnswer>>(
        `/api/v1/queries/${encodeURIComponent(queryId)}?${search({ hostId: host })}`,
        { signal },
      ),
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
    queryFn: ({ signal }) =>
      requestJson<z.infer<typeof ExplainAnswer>>('/api/v1/explain', { signal, body: { hostId: host, ...asked } }),
  })

/** A statement, or the id of one in the log. */
export type Advised = { query: string; database?: string } | { queryId: string }

/** What would make a statement cheaper; tried out on the data, so once. */
export const adviceQuery = (host: number, asked: Advised) =>
  queryOptions({
    queryKey: ['advice', host, asked],
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    queryFn: ({ signal }) => requestJson<Advice>('/api/v1/advice', { signal, body: { hostId: host, ...asked } }),
  })
