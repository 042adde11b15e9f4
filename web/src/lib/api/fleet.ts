import { queryOptions } from '@tanstack/svelte-query'
import { call } from './call.ts'

/** Query for all hosts with their last known status and load. */
export const fleetQuery = () =>
  queryOptions({
    queryKey: ['fleet'],
    queryFn: ({ signal }) => call('GET /api/v1/fleet', { signal }),
  })
