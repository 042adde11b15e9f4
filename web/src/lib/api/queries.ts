import { queryOptions } from '@tanstack/svelte-query'
import type { HostSummary } from '#proto/http/config.ts'
import { call, type RouteBody } from './call.ts'
import { findHostOutage, mergeChartResults, type ChartStates } from './chart-states.ts'

/** Refresh interval of host statuses, independent of the refresh interval of the page. */
export const statusRefreshMs = 60_000
/** Refresh interval of host statuses while the current host is down or unreachable, the same as in the service. */
export const downStatusRefreshMs = 5_000

/** Stale time of the configuration. Its definitions change only with a deployment of the service. */
const configStaleTimeMs = 10 * 60_000

/** Query for hosts and definitions. The response includes statuses, which saves the first status request. */
export const configQuery = () =>
  queryOptions({
    queryKey: ['config'],
    queryFn: async ({ signal, client }) => {
      const { data } = await call('GET /api/v1/config', { signal })
      client.setQueryData<HostStatus[]>(statusQuery().queryKey, data.hosts)
      return data
    },
    staleTime: configStaleTimeMs,
    refetchOnWindowFocus: false,
  })

type HostStatus = Pick<HostSummary, 'id' | 'status'>

export const statusQuery = () =>
  queryOptions({
    queryKey: ['status'],
    queryFn: async ({ signal }): Promise<HostStatus[]> => (await call('GET /api/healthz', { signal })).hosts,
    staleTime: statusRefreshMs,
  })

/** Query for the key metrics of a host; with `own`, including the queries of Watchhouse itself. */
export const overviewQuery = (host: number, own = false) =>
  queryOptions({
    queryKey: own ? ['overview', host, 'own'] : ['overview', host],
    queryFn: ({ signal }) => call('GET /api/v1/overview', { query: { hostId: host, own: own ? '1' : null }, signal }),
  })

/** A time window: the last hours or minutes, or two instants in epoch seconds. */
export type TimeWindowParameters = { lastHours: number } | { lastMinutes: number } | { from: number; to: number }

export interface ChartsQuery {
  host: number
  names: readonly string[]
  window: TimeWindowParameters
  interval: RouteBody<'POST /api/v1/charts/batch'>['interval']
  timezone: string | null
  /** Values of the chart parameters. */
  params?: Record<string, string>
  /** What the charts are for. Data of another purpose is never shown while these charts load. */
  purpose?: string
}

/** Maximum number of charts per request. */
export const maxCharts = 50

/** Query for several charts in one request. A chart that fails keeps its last data. */
export const chartsQuery = ({ host, names, window, interval, timezone, params = {}, purpose = '' }: ChartsQuery) => {
  const queryKey = ['charts', host, names.join(), purpose, window, interval, timezone, params] as const
  return queryOptions({
    queryKey,
    enabled: names.length > 0,
    queryFn: async ({ signal, client }): Promise<ChartStates> => {
      const body = { hostId: host, names: [...names], interval, ...window, ...(timezone ? { timezone } : {}), params }
      const answer = await call('POST /api/v1/charts/batch', { signal, body })
      const outage = findHostOutage(answer.data)
      if (outage) throw outage
      return mergeChartResults(client.getQueryData<ChartStates>(queryKey), answer.data, Date.now())
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

const maxListedTables = 20
const tableListStaleTimeMs = 60_000

/** Query for the tables of a host whose names contain a text. */
export const tableListQuery = (host: number, text: string) => {
  const query = { hostId: host, search: text, limit: maxListedTables }
  return queryOptions({
    queryKey: ['table-list', host, text],
    queryFn: ({ signal }) => call('GET /api/v1/tables', { query, signal }),
    staleTime: tableListStaleTimeMs,
  })
}

/**
 * Returns a `placeholderData` function that keeps the previous data while a query with the same key prefix loads. A
 * prefix that includes the host prevents showing data of another host.
 */
export const keepPreviousDataForKey =
  (subject: readonly unknown[]) =>
  <Data>(previous: Data | undefined, query: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    query && subject.every((part, index) => query.queryKey[index] === part) ? previous : undefined
