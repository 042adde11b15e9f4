import { queryOptions } from '@tanstack/svelte-query'
import { clock } from '#lib/state/clock.svelte.ts'
import type { TimeRange } from '#lib/state/range.ts'
import { freezeRange } from '#lib/ui/share-url.ts'
import { call, type RouteData } from './call.ts'

export type RecordedChange = RouteData<'GET /api/v1/changes'>[number]

/** A host, the hosts of a group, or all hosts. */
export interface ChangeScope {
  hostId?: number
  group?: string
}

/** Query for the changes of hosts and around them within a time range. */
export const changesQuery = (scope: ChangeScope, range: TimeRange) =>
  queryOptions({
    queryKey: ['changes', scope, range],
    queryFn: ({ signal }) => {
      const { from, to } = freezeRange(range, clock.nowMs)
      return call('GET /api/v1/changes', { query: { ...scope, from, to, limit: 500 }, signal })
    },
  })
