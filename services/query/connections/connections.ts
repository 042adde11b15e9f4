import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Methods } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import { query } from '#proto/query.ts'
import type { ServingRole } from '#shared/bus/bus.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Net } from '#shared/net/net.ts'
import type { Store } from '#shared/store/store.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import { isUserConnectionKey } from '../hosts/host-list.ts'
import type { HostRegistry } from '../hosts/hosts.ts'
import {
  type ConnectionKeys,
  openConnectionKeys,
  openConnectionSealer,
  type ConnectionSealer,
} from './sealed-content.ts'
import { openUserConnections, type UserConnections } from './user-connections.ts'

interface Connections extends Disposable {
  net: Net
  keys: ConnectionKeys
  sealing: ConnectionSealer
  user: UserConnections
}

/** Dependencies of handlers that serve user connections. */
export interface ConnectionHandlerDeps {
  connections: Connections
}

interface ConnectionsDeps {
  env: Environment
  store: Store
  net: Net
  client: DatabaseClient
  clock: Clock
}

export const openConnections = ({ env, store, net, client, clock }: ConnectionsDeps): Connections => {
  const keys = openConnectionKeys(env, store)
  const sealing = openConnectionSealer(keys)
  const user = openUserConnections({ sealing, net, client, clock })
  return { net, keys, sealing, user, [Symbol.dispose]: () => user[Symbol.dispose]() }
}

type QueryHandlers = ServiceHandlers<typeof query>

/**
 * Wraps handlers so that they open the user connections of a call before they run. If `part` is `own`, they open no
 * connections, and the methods for user connections reject every call.
 */
export const wrapWithUserConnections = (
  handlers: QueryHandlers,
  user: UserConnections,
  part: ServingRole,
): QueryHandlers => {
  const admitted = async (handle: (input: never, call: CallContext) => unknown, input: never, call: CallContext) => {
    for (const connection of call.connections?.values() ?? []) await user.admit(connection)
    return handle(input, call)
  }
  const wrapped = Object.entries(handlers).map(([method, handle]) => {
    if (part === 'own') return [method, isForGuests(method) ? () => Promise.reject(noGuest()) : handle]
    // Most calls carry no connection, and run without an extra microtask.
    const wrapper = (input: never, call: CallContext) =>
      call.connections ? admitted(handle, input, call) : handle(input, call)
    return [method, wrapper]
  })
  // Each wrapper has the name and the signature of the handler that it wraps.
  return Object.fromEntries(wrapped) as QueryHandlers
}

const isForGuests = (name: string): boolean => {
  const methods: Methods = query.methods
  return methods[name]?.guest === true
}

/** Returns a registry whose `get` also finds open user connections. It throws for hosts that `part` excludes. */
export const addUserConnections = (hosts: HostRegistry, user: UserConnections, part: ServingRole): HostRegistry => ({
  ...hosts,
  get: (key) => {
    const found = user.get(key)
    if (found) return found
    if (part === 'own' && isUserConnectionKey(key)) throw noGuest()
    if (part === 'guest' && !isUserConnectionKey(key)) throw noHostList()
    return hosts.get(key)
  },
})

/** Returns whether a key belongs to a user connection. The host list rejects labels with this prefix. */

const noGuest = (): ServiceError =>
  new ServiceError(
    'unavailable',
    'user-supplied connections are unavailable: no process with SVC_QUERY_ROLE=guest is running',
  )

const noHostList = (): ServiceError =>
  new ServiceError('invalid', 'configured hosts and user-supplied connections cannot be combined in one request')
