import type { Identity } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { Host, query } from '#proto/query.ts'
import type { Clock } from '../time/clock.ts'

/** How long the list is cached; a change of the hosts file becomes visible within this time. */
const freshMs = 2_000
/** Timeout of the request for the list. It is short, because `query` has the list in memory. */
const requestTimeoutMs = 5_000

/** A cache of the configured hosts. It requests the list at most every two seconds and never concurrently. */
export interface HostCache {
  all(): Promise<readonly Host[]>
  /** Returns the last known list, of any age; empty before the first response. */
  lastKnown(): readonly Host[]
  /** Requests the list again on the next call, because it has changed. */
  expire(): void
}

/**
 * Creates the cache without sending a request. `caller` is the identity of the service itself, since all its callers
 * share the list.
 */
export const createHostCache = (
  client: Pick<ServiceClient<typeof query>, 'hosts'>,
  clock: Clock,
  caller: Identity,
): HostCache => {
  let hosts: readonly Host[] = []
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let pending: Promise<readonly Host[]> | undefined

  const fetchHosts = async (): Promise<readonly Host[]> => {
    const deadline = clock.elapsedMs() + requestTimeoutMs
    const signal = new AbortController().signal
    hosts = await client.hosts({}, { identity: caller, deadline, signal, priority: 'person' })
    freshUntilMs = clock.elapsedMs() + freshMs
    return hosts
  }

  return {
    async all() {
      if (clock.elapsedMs() < freshUntilMs) return hosts
      pending ??= fetchHosts().finally(() => {
        pending = undefined
      })
      return pending
    },
    lastKnown: () => hosts,
    expire: () => void (freshUntilMs = Number.NEGATIVE_INFINITY),
  }
}
