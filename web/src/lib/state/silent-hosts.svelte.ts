import type { QueryClient } from '@tanstack/svelte-query'
import { SvelteMap } from 'svelte/reactivity'
import { silentHost } from '#lib/api/failure.ts'

/** The hosts that did not answer what this page last asked of them, by name: newer than any status that others keep. */
export const createSilentHosts = (client: QueryClient): { has: (name: string) => boolean } => {
  const silent = new SvelteMap<string, string>()
  $effect(() =>
    client.getQueryCache().subscribe(({ query }) => {
      const { status, error } = query.state
      // What was not answered before may be asked anew meanwhile.
      if (status === 'pending' && query.isActive()) return
      const host = status === 'error' && query.isActive() ? silentHost(error) : null
      if (host === null) silent.delete(query.queryHash)
      else silent.set(query.queryHash, host)
    }),
  )
  return { has: (name) => [...silent.values()].includes(name) }
}
