import type { Client } from '#proto/contract.ts'
import type { HostState, query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { gatewayItself } from '../auth/identity.ts'

/** States of this age are answered without a request to `query`. */
const freshMs = 1_000
/** States of this age are answered when `query` does not answer in time; older ones are not known any more. */
const knownMs = 10_000
/** How long an answer waits for `query` where states are known, and where none are. */
const refreshWithinMs = 100
const firstWithinMs = 1_000
/** How long `query` may take; what comes late serves the next request. */
const answerWithinMs = 5_000

/** The states of the configured hosts as `query` last reported them. */
export interface HostStates extends Disposable {
  /** Resolves within a second, and within 100 ms while states are known; undefined where they are not. Never rejects. */
  lastSeen(): Promise<readonly HostState[] | undefined>
}

/** Requests nothing until it is called; concurrent calls share one request. */
export const openHostStates = (
  client: Pick<Client<typeof query>, 'hostStates'>,
  clock: Clock,
  { log }: Telemetry,
): HostStates => {
  let seen: { states: readonly HostState[]; atMs: number } | undefined
  let refreshing: Promise<void> | undefined
  const stopped = new AbortController()

  const ageMs = (): number => (seen ? clock.elapsedMs() - seen.atMs : Infinity)
  const refresh = async (): Promise<void> => {
    const deadline = clock.elapsedMs() + answerWithinMs
    const call = { identity: gatewayItself, deadline, signal: stopped.signal, priority: 'person' } as const
    try {
      const states = await client.hostStates({}, call)
      seen = { states, atMs: clock.elapsedMs() }
    } catch (error) {
      log.warn({ err: error }, 'host states are not known')
    }
    refreshing = undefined
  }
  return {
    async lastSeen() {
      if (ageMs() > freshMs) {
        refreshing ??= refresh()
        await within(refreshing, ageMs() <= knownMs ? refreshWithinMs : firstWithinMs)
      }
      return ageMs() <= knownMs ? seen?.states : undefined
    },
    [Symbol.dispose]: () => stopped.abort(),
  }
}

/** Resolves with the promise, at the latest after `ms`. */
const within = async (done: Promise<void>, ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([done, promise])
  clearTimeout(timer)
}
