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
import type { Asker, Deed } from '../audit/audit.ts'
import { encryptTarget } from '../connections/encrypt-target.ts'
import { sealedConnection } from '../connections/hosts-of.ts'
import type { KeptConnection } from '../connections/kept-connections.ts'
import { connectionKey, newConnectionId } from '../connections/owner.ts'
import { requireWorking } from '../connections/tested.ts'
import type { Gateway } from '../gateway.ts'
import { parse } from '../request/parse.ts'
import { deleteRoute, getRoute, postRoute, putRoute } from '../route.ts'
import { success } from '../response/success.ts'

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
  handle: async ({ body: { name, ...target }, call, requestId }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    const encryptedTarget = await encryptTarget(gateway, target, call)
    await requireWorking(gateway, encryptedTarget, call)
    const id = newConnectionId()
    const asked = { key: connectionKey(owner, id), name, encryptedTarget, lifetimeMs: null }
    const { sealed, host } = await gateway.query.sealConnection(asked, call)
    const now = gateway.clock.now()
    const connection = { id, name, host, sealed, createdAtMs: now, updatedAtMs: now }
    const deed = { action: 'keep-connection', target: { id, name, address: host } }
    return onRecord(gateway, { call, requestId }, deed, () => kept.add(owner, connection))
  },
})

export const changeUserConnection = putRoute({
  ...changing,
  path,
  doc: 'Renames a kept connection, or replaces all of it once the new one has been tried',
  body: UserConnectionChange,
  handle: async ({ path, body, call, requestId }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    const present = found(await kept.byId(owner, parse(UserConnectionPath, path).id))
    const updatedAtMs = gateway.clock.now()
    const { name, url, user, password } = body
    const change = (to: Parameters<typeof kept.change>[2]) => {
      const target = { id: present.id, name, address: to.host ?? present.host }
      const deed = { action: 'change-connection', target }
      return onRecord(gateway, { call, requestId }, deed, () => kept.change(owner, present.id, to))
    }
    if (url !== undefined && user !== undefined && password !== undefined) {
      const encryptedTarget = await encryptTarget(gateway, { url, user, password }, call)
      await requireWorking(gateway, encryptedTarget, call)
      const asked = { key: connectionKey(owner, present.id), name, encryptedTarget, lifetimeMs: null }
      const { sealed, host } = await gateway.query.sealConnection(asked, call)
      return change({ name, host, sealed, updatedAtMs })
    }
    const { sealed } = await gateway.query.renameConnection(
      { connection: sealedConnection(owner, present), name },
      call,
    )
    return change({ name, sealed, updatedAtMs })
  },
})

export const removeUserConnection = deleteRoute({
  ...changing,
  path,
  doc: 'Forgets a kept connection',
  handle: async ({ path, call, requestId }, gateway) => {
    const { owner, kept } = await gateway.connections.of(call)
    const { id } = parse(UserConnectionPath, path)
    const deed = { action: 'forget-connection', target: { id } }
    return onRecord(gateway, { call, requestId }, deed, () => kept.remove(owner, id))
  },
})

/** Changes what somebody keeps, and answers with it as it is now. */
const onRecord = async (
  { audit }: Gateway,
  asker: Asker,
  deed: Omit<Deed, 'host'>,
  change: () => Promise<KeptConnection | undefined>,
) => success(shown(await audit.of({ ...deed, host: null }, asker, async () => found(await change()))), {})

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
