import type { Identity } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { Host, query } from '#proto/query.ts'
import type { Clock } from '../time/clock.ts'

/** How long a list is used before it is asked for again: a changed hosts file shows within this. */
const freshMs = 2_000
/** How long `query` may take to name its hosts, which it does from memory. */
const answerWithinMs = 5_000

/** The configured hosts, asked for at most every two seconds and once at a time. */
export interface KnownHosts {
  all(): Promise<readonly Host[]>
  /** What was last known, however long ago; empty before the first answer. */
  lastKnown(): readonly Host[]
}

/** Asks nothing yet; `asker` is the service that asks for itself, since all its callers share the answer. */
export const openKnownHosts = (
  client: Pick<Client<typeof query>, 'hosts'>,
  clock: Clock,
  asker: Identity,
): KnownHosts => {
  let hosts: readonly Host[] = []
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let asking: Promise<readonly Host[]> | undefined

  const ask = async (): Promise<readonly Host[]> => {
    const deadline = clock.elapsedMs() + answerWithinMs
    const signal = new AbortController().signal
    hosts = await client.hosts({}, { identity: asker, deadline, signal, priority: 'person' })
    freshUntilMs = clock.elapsedMs() + freshMs
    return hosts
  }

  return {
    async all() {
      if (clock.elapsedMs() < freshUntilMs) return hosts
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return asking
    },
    lastKnown: () => hosts,
  }
}
