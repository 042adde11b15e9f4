import type { Call } from '#proto/call.ts'
import type { Handlers, Methods } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { query } from '#proto/query.ts'
import type { Part } from '#shared/bus/bus.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { Hosts } from '../hosts/hosts.ts'
import { type BroughtHosts, openBroughtHosts } from './brought-hosts.ts'
import { type Keys, openKeys, openSealing, type Sealing } from './sealed-content.ts'

/** All that has to do with databases that people bring. */
interface Connections extends Disposable {
  net: Net
  keys: Keys
  sealing: Sealing
  brought: BroughtHosts
}

/** What handlers work with that serve them. */
export interface WithConnections {
  connections: Connections
}

interface Place {
  env: Environment
  store: Store
  net: Net
  client: DatabaseClient
  clock: Clock
}

export const openConnections = ({ env, store, net, client, clock }: Place): Connections => {
  const keys = openKeys(env, store)
  const sealing = openSealing(keys)
  const brought = openBroughtHosts({ sealing, net, client, clock })
  return { net, keys, sealing, brought, [Symbol.dispose]: () => brought[Symbol.dispose]() }
}

type QueryHandlers = Handlers<typeof query>

/**
 * The same handlers, each beginning by opening the connections that came with its call. A process with the part `own` opens
 * none, and answers nothing that has to do with them.
 */
export const admitting = (handlers: QueryHandlers, brought: BroughtHosts, part: Part): QueryHandlers => {
  const admitted = async (handle: (input: never, call: Call) => unknown, input: never, call: Call) => {
    for (const connection of call.connections?.values() ?? []) await brought.admit(connection)
    return handle(input, call)
  }
  const wrapped = Object.entries(handlers).map(([method, handle]) => {
    if (part === 'own') return [method, isForGuests(method) ? () => Promise.reject(noGuest()) : handle]
    // Most calls bring none, and need not be waited with.
    const answer = (input: never, call: Call) =>
      call.connections ? admitted(handle, input, call) : handle(input, call)
    return [method, answer]
  })
  // The names are those of `handlers`, and each function takes and returns what the one under its name does.
  return Object.fromEntries(wrapped) as QueryHandlers
}

const isForGuests = (name: string): boolean => {
  const methods: Methods = query.methods
  return methods[name]?.guest === true
}

/** The configured hosts, and by their keys those that people brought, as far as a process of this part knows them. */
export const withBrought = (hosts: Hosts, brought: BroughtHosts, part: Part): Hosts => ({
  ...hosts,
  get: (key) => {
    const found = brought.get(key)
    if (found) return found
    if (part === 'own' && isBrought(key)) throw noGuest()
    if (part === 'guest' && !isBrought(key)) throw noHostList()
    return hosts.get(key)
  },
})

/** No label of the host list begins so. */
const isBrought = (key: string): boolean => key.startsWith('user:')

const noGuest = (): ServiceError =>
  new ServiceError('unavailable', 'databases that people bring are not connected to here: no process for them runs')

const noHostList = (): ServiceError =>
  new ServiceError('invalid', 'hosts of the host list cannot be asked in one go with a database that somebody brought')
