import { queryOptions } from '@tanstack/svelte-query'
import { clock } from '#lib/state/clock.svelte.ts'
import type { TimeRange } from '#lib/state/range.ts'
import { freezeRange } from '#lib/ui/share-url.ts'
import { call, type RouteData } from './call.ts'

export type RecordedChange = RouteData<'GET /api/v1/changes'>[number]

/** Query for the changes of a host and around it within a time range. */
export const changesQuery = (host: number, range: TimeRange) =>
  queryOptions({
    queryKey: ['changes', host, range],
    queryFn: ({ signal }) => {
      const { from, to } = freezeRange(range, clock.nowMs)
      const query = { hostId: host, from, to, limit: 500 }
      return call('GET /api/v1/changes', { query, signal })
    },
  })
