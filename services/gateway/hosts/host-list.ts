import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host, query, HostState } from '#proto/query.ts'
import { type KnownHosts, openKnownHosts } from '#shared/hosts/known-hosts.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import type { Clock } from '#shared/time/clock.ts'
import { gatewayItself } from '../auth/identity.ts'

/** Hosts that a refusal names. */
const namedHosts = 20

/** The configured hosts, by their positions too. */
export interface HostList extends KnownHosts {
  /** The host at this position; throws `not-found` naming the parameter that asked for it and the hosts there are. */
  find(hostId: number, parameter?: string): Promise<Host>
}

export const openHostList = (client: Client<typeof query>, clock: Clock): HostList => {
  const hosts = openKnownHosts(client, clock, gatewayItself)
  const find = async (hostId: number, parameter = 'hostId'): Promise<Host> => {
    const known = await hosts.all()
    const host = known.find(({ id }) => id === hostId)
    if (host === undefined) throw noSuchHost(hostId, parameter, known)
    return host
  }
  return { ...hosts, find }
}

/** A refusal that names the hosts there are. */
export const noSuchHost = (hostId: number, parameter: string, known: readonly Host[]): ServiceError => {
  const hosts = known.slice(0, namedHosts).map(({ id, name }) => ({ id, name }))
  const names = hosts.map(({ id, name }) => `${id} (${name})`).join(', ')
  const more = known.length > namedHosts ? ` and ${known.length - namedHosts} more` : ''
  const sentence = known.length === 0 ? 'no hosts are configured' : `there are ${names}${more}`
  return new ServiceError('not-found', `no such host: ${hostId}; ${sentence}`, {
    details: { parameter, hosts, count: known.length },
  })
}

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

/** A host as answers name it; `hostId` is null of one that is not in the list any more. */
export interface NamedHost {
  hostId: number | null
  host: string
}

/** Names for keys of hosts that are watched; undefined for those that the caller must not hear of. */
export type NameHost = (key: string) => NamedHost | undefined

const isBrought = ({ key }: Host): boolean => key.startsWith('user:')

/** The hosts that are watched, as a caller may hear of them: with a connection session of none. */
export const watchedHosts = async (hosts: HostList): Promise<NameHost> => {
  const all = await hosts.all()
  const isSession = isOfSession(all)
  const byKey = new Map(all.map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return (key) => (isSession ? undefined : (byKey.get(key) ?? { hostId: null, host: key }))
}

const isOfSession = (all: readonly Host[]): boolean => all.some((host) => host.id >= 0 && isBrought(host))

/** Whether the caller may hear of the installation at all: with a connection session only of what it brought. */
export const hearsOfInstallation = async (hosts: HostList): Promise<boolean> => !isOfSession(await hosts.all())

/** The host at this position; throws `invalid` for one that its caller brought, which nobody watches. */
export const findWatched = async (hosts: HostList, hostId: number): Promise<Host> => {
  const host = await hosts.find(hostId)
  if (!isBrought(host)) return host
  const message = 'must be a host of the configured list: connections of your own are not watched'
  throw new ServiceError('invalid', `hostId ${message}`, {
    details: { parameter: 'hostId', problems: [{ parameter: 'hostId', message }] },
  })
}

/** What may be about a host, with that as lists name it. What is about hosts that the caller must not hear of is left out. */
export const shownOf = <T extends { hostKey: string | null }>(found: readonly T[], nameOf: NameHost) =>
  found.flatMap(({ hostKey, ...shown }) => {
    const named = hostKey === null ? nobody : nameOf(hostKey)
    return named ? [{ ...shown, ...named }] : []
  })

const nobody = { hostId: null, host: null }

/** The host of what was found already; nobody's where the caller must not hear of it. */
export const namedOr = (hostKey: string | null, nameOf: NameHost) =>
  (hostKey === null ? nobody : nameOf(hostKey)) ?? nobody
