import type { QueryClient } from '@tanstack/svelte-query'
import { SvelteMap } from 'svelte/reactivity'
import { findUnreachableHost } from '#lib/api/failure.ts'

/** Tracks the names of hosts that requests of this page could not reach, which is more recent than their status. */
export const createUnreachableHosts = (client: QueryClient): { has: (name: string) => boolean } => {
  const unreachable = new SvelteMap<string, string>()
  $effect(() =>
    client.getQueryCache().subscribe(({ query }) => {
      const { status, error } = query.state
      // A query that failed before is being retried.
      if (status === 'pending' && query.isActive()) return
      const host = status === 'error' && query.isActive() ? findUnreachableHost(error) : null
      if (host === null) unreachable.delete(query.queryHash)
      else unreachable.set(query.queryHash, host)
    }),
  )
  return { has: (name) => [...unreachable.values()].includes(name) }
}
