import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type { FleetAnswer } from '#proto/http/fleet.ts'
import { requestJson } from './request.ts'

/** Every host with its last known state and load, in one answer. */
export const fleetQuery = () =>
  queryOptions({
    queryKey: ['fleet'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof FleetAnswer>>('/api/v1/fleet', { signal }),
  })
