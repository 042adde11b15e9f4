import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host, query } from '#proto/query.ts'
import type { Clock } from '#shared/time/clock.ts'
import { type KnownHosts, openKnownHosts } from '#shared/hosts/known-hosts.ts'
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
