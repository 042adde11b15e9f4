import type { Client } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Host, query } from '#proto/query.ts'
import type { Clock } from '#shared/clock.ts'
import { gatewayItself } from './identity.ts'

/** How long a list is used before it is asked for again: a changed hosts file shows within this. */
const freshMs = 2_000
/** How long `query` may take to name its hosts, which it does from memory. */
const answerWithinMs = 5_000
/** Hosts that a refusal names. */
const namedHosts = 20

/** The configured hosts, asked for at most every two seconds and once at a time. */
export interface HostList {
  all(): Promise<readonly Host[]>
  /** The host at this position; throws `not-found` naming the parameter that asked for it and the hosts there are. */
  find(hostId: number, parameter?: string): Promise<Host>
  /** What was last known, however long ago; empty before the first answer. */
  lastKnown(): readonly Host[]
}

export const openHostList = (client: Client<typeof query>, clock: Clock): HostList => {
  let hosts: readonly Host[] = []
  let freshUntilMs = Number.NEGATIVE_INFINITY
  let asking: Promise<readonly Host[]> | undefined

  const ask = async (): Promise<readonly Host[]> => {
    const deadline = clock.now() + answerWithinMs
    const signal = new AbortController().signal
    hosts = await client.hosts({}, { identity: gatewayItself, deadline, signal, priority: 'person' })
    freshUntilMs = clock.now() + freshMs
    return hosts
  }

  const all = async (): Promise<readonly Host[]> => {
    if (clock.now() < freshUntilMs) return hosts
    asking ??= ask().finally(() => {
      asking = undefined
    })
    return asking
  }

  const find = async (hostId: number, parameter = 'hostId'): Promise<Host> => {
    const known = await all()
    const host = known.find(({ id }) => id === hostId)
    if (host === undefined) throw noSuchHost(hostId, parameter, known)
    return host
  }

  return { all, find, lastKnown: () => hosts }
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
