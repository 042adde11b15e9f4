import { ServiceError } from '#proto/errors.ts'
import {
  type UserConnection,
  UserConnectionAnswer,
  UserConnectionChange,
  UserConnectionPath,
  UserConnectionRequest,
  UserConnectionsAnswer,
} from '#proto/http/connections.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { sealedConnection } from '../connections/hosts-of.ts'
import type { KeptConnection } from '../connections/kept-connections.ts'
import { connectionKey, newConnectionId } from '../connections/owner.ts'
import { requireWorking } from '../connections/tested.ts'
import { parse } from '../parse.ts'
import { deleteRoute, getRoute, postRoute, putRoute } from '../route.ts'
import { success } from '../success.ts'

const path = '/api/v1/user-connections/{id}'
const common = { feature: null, limit: 'data', query: noQuery } as const
const changing = { ...common, access: 'write', answer: UserConnectionAnswer } as const

export const userConnections = getRoute({
  ...common,
  path: '/api/v1/user-connections',
  doc: 'The connections that the caller keeps, without users and passwords',
  access: 'read',
  answer: UserConnectionsAnswer,
  handle: async ({ call }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    const connections = (await kept.list(owner)).map(shown)
    return success(connections, { count: connections.length })
  },
})

export const addUserConnection = postRoute({
  ...changing,
  path: '/api/v1/user-connections',
  doc: 'Keeps a connection once it has been tried; its hostId stands for it in every route that takes one',
  body: UserConnectionRequest,
  handle: async ({ body: { name, ...target }, call }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    await requireWorking(gateway, target, call)
    const id = newConnectionId()
    const asked = { key: connectionKey(owner, id), name, target, lifetimeMs: null }
    const { sealed, host } = await gateway.query.sealConnection(asked, call)
    const now = gateway.clock.now()
    return success(shown(await kept.add(owner, { id, name, host, sealed, createdAtMs: now, updatedAtMs: now })), {})
  },
})

export const changeUserConnection = putRoute({
  ...changing,
  path,
  doc: 'Renames a kept connection, or replaces all of it once the new one has been tried',
  body: UserConnectionChange,
  handle: async ({ path, body, call }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    const present = found(await kept.byId(owner, parse(UserConnectionPath, path).id))
    const updatedAtMs = gateway.clock.now()
    const { name, url, user, password } = body
    if (url !== undefined && user !== undefined && password !== undefined) {
      const target = { url, user, password }
      await requireWorking(gateway, target, call)
      const asked = { key: connectionKey(owner, present.id), name, target, lifetimeMs: null }
      const { sealed, host } = await gateway.query.sealConnection(asked, call)
      return success(shown(found(await kept.change(owner, present.id, { name, host, sealed, updatedAtMs }))), {})
    }
    const { sealed } = await gateway.query.renameConnection(
      { connection: sealedConnection(owner, present), name },
      call,
    )
    return success(shown(found(await kept.change(owner, present.id, { name, sealed, updatedAtMs }))), {})
  },
})

export const removeUserConnection = deleteRoute({
  ...changing,
  path,
  doc: 'Forgets a kept connection',
  handle: async ({ path, call }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    return success(shown(found(await kept.remove(owner, parse(UserConnectionPath, path).id))), {})
  },
})

/** Somebody else's is told like one that never was. */
const found = (connection: KeptConnection | undefined): KeptConnection => {
  if (connection) return connection
  throw new ServiceError('not-found', 'no such connection among yours', { details: { parameter: 'id' } })
}

const shown = ({ id, number, name, host, createdAtMs, updatedAtMs }: KeptConnection): UserConnection => ({
  id,
  hostId: -number,
  name,
  host,
  source: 'database',
  createdAt: new Date(createdAtMs).toISOString(),
  updatedAt: new Date(updatedAtMs).toISOString(),
})
