import { queryOptions } from '@tanstack/svelte-query'
import { call, type RouteData } from './call.ts'

export type SetupItem = RouteData<'GET /api/v1/setup'>[number]

/** Query for the steps of a new installation. It is requested when a page opens, never on a timer. */
export const setupQuery = () =>
  queryOptions({
    queryKey: ['setup'],
    queryFn: ({ signal }) => call('GET /api/v1/setup', { signal }),
    staleTime: 0,
  })
