import type { Client } from '#proto/contract.ts'
import type { Host } from '#proto/host.ts'
import type { query } from '#proto/query.ts'
import type { Clock } from '#shared/clock.ts'
import { ownCall } from '../parts.ts'

/** The hosts of the list by key. */
export type ListedHosts = ReadonlyMap<string, Host>

const freshMs = 10_000
const listedWithinMs = 2_000

/** The host list, asked for at most every ten seconds; while `query` does not answer, what it said last holds. */
export const openListedHosts = (asked: { query: Client<typeof query>; clock: Clock }): (() => Promise<ListedHosts>) => {
  let known: ListedHosts = new Map()
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined
  const ask = async () => {
    const call = ownCall(asked, listedWithinMs, AbortSignal.timeout(listedWithinMs))
    const hosts = await asked.query.hosts({}, call).catch(() => undefined)
    if (hosts) known = new Map(hosts.map((host) => [host.key, host]))
    freshUntilMs = performance.now() + freshMs
  }
  return async () => {
    if (performance.now() < freshUntilMs) return known
    asking ??= ask().finally(() => {
      asking = undefined
    })
    await asking
    return known
  }
}
