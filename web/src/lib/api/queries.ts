import { queryOptions } from '@tanstack/svelte-query'
import type { HostSummary } from '#proto/http/config.ts'
import { call, type Body } from './call.ts'
import { outageOf, withResults, type ChartAnswers } from './chart-answers.ts'

/** How often statuses of hosts are looked at, however seldom the page itself is refreshed. */
export const statusRefreshMs = 60_000
/** The same while the host of the page is down, or does not answer what the page asks: the service looks as often. */
export const statusWatchMs = 5_000

/** Definitions change with a deployment of the service, not while a page is open. */
const configAgeMs = 10 * 60_000

/** Hosts and definitions. The statuses that come along save the first request for them. */
export const configQuery = () =>
  queryOptions({
    queryKey: ['config'],
    queryFn: async ({ signal, client }) => {
      const { data } = await call('GET /api/v1/config', { signal })
      client.setQueryData<HostStatus[]>(statusQuery().queryKey, data.hosts)
      return data
    },
    staleTime: configAgeMs,
    refetchOnWindowFocus: false,
  })

type HostStatus = Pick<HostSummary, 'id' | 'status'>

export const statusQuery = () =>
  queryOptions({
    queryKey: ['status'],
    queryFn: async ({ signal }): Promise<HostStatus[]> => (await call('GET /api/healthz', { signal })).hosts,
    staleTime: statusRefreshMs,
  })

export const overviewQuery = (host: number) =>
  queryOptions({
    queryKey: ['overview', host],
    queryFn: ({ signal }) => call('GET /api/v1/overview', { query: { hostId: host }, signal }),
  })

/** What selects a window: the last hours, or two instants in epoch seconds. */
export type WindowQuery = { lastHours: number } | { from: number; to: number }

export interface ChartsQuery {
  host: number
  names: readonly string[]
  window: WindowQuery
  interval: Body<'POST /api/v1/charts/batch'>['interval']
  timezone: string | null
  /** Values for the placeholders of the charts that have them. */
  params?: Record<string, string>
}

/** The most charts that one request may ask for. */
export const mostCharts = 50

/** Several charts in one request; each keeps what it last showed when only its own refresh fails. */
export const chartsQuery = ({ host, names, window, interval, timezone, params = {} }: ChartsQuery) => {
  const queryKey = ['charts', host, names.join(), window, interval, timezone, params] as const
  return queryOptions({
    queryKey,
    enabled: names.length > 0,
    queryFn: async ({ signal, client }): Promise<ChartAnswers> => {
      const body = { hostId: host, names: [...names], interval, ...window, ...(timezone ? { timezone } : {}), params }
      const answer = await call('POST /api/v1/charts/batch', { signal, body })
      const outage = outageOf(answer.data)
      if (outage) throw outage
      return withResults(client.getQueryData<ChartAnswers>(queryKey), answer.data, Date.now())
    },
  })
}

export const tableQuery = (host: number, name: string, parameters: URLSearchParams) => {
  const query = new URLSearchParams([['hostId', String(host)], ...parameters])
  return queryOptions({
    queryKey: ['table', host, name, query.toString()],
    queryFn: ({ signal }) => call('GET /api/v1/tables/{name}', { path: { name }, query, signal }),
  })
}

const mostListed = 20
const listAgeMs = 60_000

/** Tables of a host whose name has a text in it. */
export const tableListQuery = (host: number, text: string) => {
  const query = { hostId: host, search: text, limit: mostListed }
  return queryOptions({
    queryKey: ['table-list', host, text],
    queryFn: ({ signal }) => call('GET /api/v1/tables', { query, signal }),
    staleTime: listAgeMs,
  })
}

/** Keeps the last answer on screen while another window or order of the same subject is fetched, never across hosts. */
export const keepOfSameSubject =
  (subject: readonly unknown[]) =>
  <Data>(previous: Data | undefined, query: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    query && subject.every((part, index) => query.queryKey[index] === part) ? previous : undefined
