import { queryOptions } from '@tanstack/svelte-query'
import { call } from './call.ts'

/** Every host with its last known state and load, in one answer. */
export const fleetQuery = () =>
  queryOptions({
    queryKey: ['fleet'],
    queryFn: ({ signal }) => call('GET /api/v1/fleet', { signal }),
  })
