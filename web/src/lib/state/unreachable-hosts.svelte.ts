import type { QueryClient } from '@tanstack/svelte-query'
import { SvelteMap } from 'svelte/reactivity'
import { findUnreachableHost } from '#lib/api/failure.ts'

/** Tracks the hosts that requests of this page could not reach. The result is more recent than the host status. */
export const trackUnreachableHosts = (client: QueryClient): { has: (name: string) => boolean } => {
  const unreachable = new SvelteMap<string, string>()
  $effect(() =>
    client.getQueryCache().subscribe(({ query }) => {
      const { status, error } = query.state
      // A pending query may be the retry of a failed one, so its host stays marked until the result arrives.
      if (status === 'pending' && query.isActive()) return
      const host = status === 'error' && query.isActive() ? findUnreachableHost(error) : null
      if (host === null) unreachable.delete(query.queryHash)
      else unreachable.set(query.queryHash, host)
    }),
  )
  return { has: (name) => [...unreachable.values()].includes(name) }
}
