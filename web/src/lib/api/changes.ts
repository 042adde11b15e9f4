import { queryOptions } from '@tanstack/svelte-query'
import { getRangeSeconds, type TimeRange } from '#lib/state/range.ts'
import { call, type RouteData } from './call.ts'

export type RecordedChange = RouteData<'GET /api/v1/changes'>[number]

/** Query for the changes of a host and around it within a time range. */
export const changesQuery = (host: number, range: TimeRange) =>
  queryOptions({
    queryKey: ['changes', host, range],
    queryFn: ({ signal }) => {
      const from = range.kind === 'between' ? range.from : Math.floor(Date.now() / 1000) - getRangeSeconds(range)
      const query = { hostId: host, from, to: range.kind === 'between' ? range.to : null, limit: 500 }
      return call('GET /api/v1/changes', { query, signal })
    },
  })
