import type { ServiceClient } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host, query, HostState } from '#proto/query.ts'
import { type HostCache, createHostCache } from '#shared/hosts/known-hosts.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { Clock } from '#shared/time/clock.ts'
import { gatewayIdentity } from '../auth/identity.ts'

/** Maximum number of hosts in a not-found error. */
const maxNamedHosts = 20

/** The configured hosts, with lookup by position. */
export interface HostList extends HostCache {
  /** Returns the host at this position; throws `not-found` with the parameter and the available hosts. */
  find(hostId: number, parameter?: string): Promise<Host>
}

export const openHostList = (client: ServiceClient<typeof query>, clock: Clock): HostList => {
  const hosts = createHostCache(client, clock, gatewayIdentity)
  const find = async (hostId: number, parameter = 'hostId'): Promise<Host> => {
    const known = await hosts.all()
    const host = known.find(({ id }) => id === hostId)
    if (host === undefined) throw createUnknownHostError(hostId, parameter, known)
    return host
  }
  return { ...hosts, find }
}

/** Returns a `not-found` error that lists the available hosts. */
export const createUnknownHostError = (hostId: number, parameter: string, known: readonly Host[]): ServiceError => {
  const hosts = known.slice(0, maxNamedHosts).map(({ id, name }) => ({ id, name }))
  const names = hosts.map(({ id, name }) => `${id} (${name})`).join(', ')
  const more = known.length > maxNamedHosts ? ` and ${known.length - maxNamedHosts} more` : ''
  const sentence = known.length === 0 ? 'no hosts are configured' : `available: ${names}${more}`
  return new ServiceError('not-found', `unknown host "${hostId}"; ${sentence}`, {
    details: { parameter, hosts, count: known.length },
  })
}

/** States younger than this are returned without a request to `query`. */
const freshMs = 1_000
/** States up to this age are returned when `query` is slow; older ones count as unknown. */
const staleAfterMs = 10_000
/** How long a caller waits for `query` while states are cached. */
const refreshWithinMs = 100
/** How long a caller waits for `query` while no states are cached. */
const firstWithinMs = 1_000
/** Timeout of a request to `query`. A response after the caller has stopped waiting is cached for the next one. */
const timeoutMs = 5_000

/** The states of the configured hosts as `query` last reported them. */
export interface HostStates extends Disposable {
  /** Returns the states within 1 s, or within 100 ms while states are cached; undefined if unknown. Never rejects. */
  lastSeen(): Promise<readonly HostState[] | undefined>
}

/** Opens the cache of host states. Concurrent callers share one request. */
export const openHostStates = (
  client: Pick<ServiceClient<typeof query>, 'hostStates'>,
  clock: Clock,
  { log }: Telemetry,
): HostStates => {
  let seen: { states: readonly HostState[]; atMs: number } | undefined
  let refreshing: Promise<void> | undefined
  const stopped = new AbortController()

  const ageMs = (): number => (seen ? clock.elapsedMs() - seen.atMs : Infinity)
  const refresh = async (): Promise<void> => {
    const deadline = clock.elapsedMs() + timeoutMs
    const call = { identity: gatewayIdentity, deadline, signal: stopped.signal, priority: 'person' } as const
    try {
      const states = await client.hostStates({}, call)
      seen = { states, atMs: clock.elapsedMs() }
    } catch (error) {
      log.warn({ err: error }, 'reading host states failed')
    }
    refreshing = undefined
  }
  return {
    async lastSeen() {
      if (ageMs() > freshMs) {
        refreshing ??= refresh()
        await waitAtMost(refreshing, ageMs() <= staleAfterMs ? refreshWithinMs : firstWithinMs)
      }
      return ageMs() <= staleAfterMs ? seen?.states : undefined
    },
    [Symbol.dispose]: () => stopped.abort(),
  }
}

/** Waits for a promise, but at most `ms`. */
const waitAtMost = async (done: Promise<void>, ms: number): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([done, promise])
  clearTimeout(timer)
}

/** A host in a response; `hostId` is null when it is no longer in the list. */
export interface NamedHost {
  hostId: number | null
  host: string
}

/** Returns id and name for a host key; undefined for hosts that the caller may not see. */
export type HostNameLookup = (key: string) => NamedHost | undefined

const isUserConnection = ({ key }: Host): boolean => key.startsWith('user:')

/** Returns a lookup of the names of monitored hosts. With a connection session, it finds no host. */
export const loadHostNames = async (hosts: HostList): Promise<HostNameLookup> => {
  const all = await hosts.all()
  const isSession = isSessionList(all)
  const byKey = new Map(all.map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return (key) => (isSession ? undefined : (byKey.get(key) ?? { hostId: null, host: key }))
}

const isSessionList = (all: readonly Host[]): boolean => all.some((host) => host.id >= 0 && isUserConnection(host))

/** Returns whether the caller may see the installation; a connection session shows only its own host. */
export const canSeeInstallation = async (hosts: HostList): Promise<boolean> => !isSessionList(await hosts.all())

/** Returns the monitored host at this position; throws `invalid` for a user connection, which is not monitored. */
export const findMonitoredHost = async (hosts: HostList, hostId: number): Promise<Host> => {
  const host = await hosts.find(hostId)
  if (!isUserConnection(host)) return host
  const message = 'must be a configured host; user connections are not monitored'
  throw new ServiceError('invalid', `hostId ${message}`, {
    details: { parameter: 'hostId', problems: [{ parameter: 'hostId', message }] },
  })
}

/** Replaces host keys by names, and omits entries about hosts that the caller may not see. */
export const replaceHostKeys = <T extends { hostKey: string | null }>(found: readonly T[], nameOf: HostNameLookup) =>
  found.flatMap(({ hostKey, ...shown }) => {
    const named = hostKey === null ? noHost : nameOf(hostKey)
    return named ? [{ ...shown, ...named }] : []
  })

const noHost = { hostId: null, host: null }

/** Returns id and name for a host key; both are null if the caller may not see the host. */
export const findHostNameOrNull = (hostKey: string | null, nameOf: HostNameLookup) =>
  (hostKey === null ? noHost : nameOf(hostKey)) ?? noHost
