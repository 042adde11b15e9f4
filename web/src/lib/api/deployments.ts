import { queryOptions } from '@tanstack/svelte-query'
import { getRangeSeconds, type TimeRange } from '#lib/state/range.ts'
import { call, type RouteData } from './call.ts'

export type Deployment = RouteData<'GET /api/v1/deployments'>[number]

/** Query for the deployments within a time range, across all hosts. */
export const deploymentsQuery = (range: TimeRange) =>
  queryOptions({
    queryKey: ['deployments', range],
    queryFn: ({ signal }) => {
      const from = range.kind === 'between' ? range.from : Math.floor(Date.now() / 1000) - getRangeSeconds(range)
      const query = { from, to: range.kind === 'between' ? range.to : null }
      return call('GET /api/v1/deployments', { query, signal })
    },
  })
