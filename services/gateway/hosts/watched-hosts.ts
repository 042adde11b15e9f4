import { ServiceError } from '#proto/errors.ts'
import type { Host } from '#proto/query.ts'
import type { HostList } from './host-list.ts'

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
