import type { Identity } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Host, query } from '#proto/query.ts'
import type { Clock } from '../time/clock.ts'

/** How long a list is cached; a changed hosts file shows within this time. */
const freshMs = 2_000
/** The timeout of listing the hosts, which `query` does from memory. */
const answerWithinMs = 5_000

/** The configured hosts, requested at most every two seconds and once at a time. */
export interface KnownHosts {
  all(): Promise<readonly Host[]>
  /** Returns the last known list, of any age; empty before the first response. */
  lastKnown(): readonly Host[]
}

/** Creates the cache without sending a request. `caller` is the identity of the service itself, since all its callers share the list. */
export const openKnownHosts = (
  client: Pick<Client<typeof query>, 'hosts'>,
  clock: Clock,
  caller: Identity,
): KnownHosts => {
  let hosts: readonly Host[] = []
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let pending: Promise<readonly Host[]> | undefined

  const fetchHosts = async (): Promise<readonly Host[]> => {
    const deadline = clock.elapsedMs() + answerWithinMs
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
  }
}
