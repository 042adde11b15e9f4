import { queryOptions } from '@tanstack/svelte-query'
import { spanSeconds, type Range } from '#lib/state/range.ts'
import { call, type Data } from './call.ts'

export type Deployment = Data<'GET /api/v1/deployments'>[number]

/** Query for the deployments within a time range, across all hosts. */
export const deploymentsQuery = (range: Range) =>
  queryOptions({
    queryKey: ['deployments', range],
    queryFn: ({ signal }) => {
      const from = range.kind === 'between' ? range.from : Math.floor(Date.now() / 1000) - spanSeconds(range)
      const query = { from, to: range.kind === 'between' ? range.to : null }
      return call('GET /api/v1/deployments', { query, signal })
    },
  })
