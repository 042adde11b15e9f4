import { queryOptions } from '@tanstack/svelte-query'
import { call, type RouteData } from './call.ts'

export type LastHour = RouteData<'GET /api/v1/history/last-hour'>

/** Query for the last recorded hour of a host. */
export const lastHourQuery = (host: number) =>
  queryOptions({
    queryKey: ['last-hour', host],
    queryFn: ({ signal }) => call('GET /api/v1/history/last-hour', { query: { hostId: host }, signal }),
  })
