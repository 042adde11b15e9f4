import type { Call } from '#proto/call.ts'
import type { ConnectionTarget, ConnectionTest } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ConnectionSessionAnswer,
  ConnectionSessionRequest,
  ConnectionTestAnswer,
  ConnectionTestRequest,
  connectionSessionHeader,
  type UserConnection,
  UserConnectionAnswer,
  UserConnectionChange,
  UserConnectionPath,
  UserConnectionRequest,
  UserConnectionsAnswer,
} from '#proto/http/connections.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptFor } from '#shared/seal/transit.ts'
import type { Asker, Deed } from '../audit/open-audit.ts'
import { sessionToken, sealedConnection } from '../connections/hosts-of.ts'
import { type KeptConnection, connectionKey, newConnectionId, ownerOf } from '../connections/user-connections.ts'
import type { Gateway } from '../gateway.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/envelope.ts'
import { postRoute, deleteRoute, getRoute, putRoute, type Route } from '../http-route.ts'

const lifetimeSeconds = 15 * 60
const longestName = 100
const dialling = { feature: null, access: 'anonymous', dials: true, query: noQuery } as const

const connectionTest = postRoute({
  ...dialling,
  path: '/api/v1/browser-connections/test',
  doc: 'Dials a ClickHouse host that the caller names and tells its version, or why there is none',
  limit: 'browser-connection-test',
  body: ConnectionTestRequest,
  answer: ConnectionTestAnswer,
  handle: async ({ body: target, call }, gateway) => {
    const encryptedTarget = await encryptTarget(gateway, target, call)
    return success(await gateway.query.testConnection({ encryptedTarget }, call), {})
  },
})

const connectionSession = postRoute({
  ...dialling,
  path: '/api/v1/browser-connections/sessions',
  doc: `Opens a session of fifteen minutes on a ClickHouse host that the caller names, which is host 0 and the only one for requests with its token in the header ${connectionSessionHeader}`,
  limit: 'browser-connection-session',
  body: ConnectionSessionRequest,
  answer: ConnectionSessionAnswer,
  handle: async ({ body: { name: given, ...target }, call }, gateway) => {
    const encryptedTarget = await encryptTarget(gateway, target, call)
    const { version } = await requireWorking(gateway, encryptedTarget, call)
    const name = given ?? new URL(target.url).host.slice(0, longestName)
    const id = newConnectionId()
    const key = connectionKey(ownerOf(call.identity), id)
    const expiresAt = new Date(gateway.clock.now() + lifetimeSeconds * 1_000).toISOString()
    const asked = { key, name, encryptedTarget, lifetimeMs: lifetimeSeconds * 1_000 }
    const token = sessionToken(id, { name, ...(await gateway.query.sealConnection(asked, call)) })
    return success({ token, header: connectionSessionHeader, hostId: 0, name, version, expiresAt, lifetimeSeconds }, {})
  },
})

const path = '/api/v1/user-connections/{id}'
const common = { feature: null, limit: 'data', query: noQuery } as const
const changing = { ...common, access: 'write', answer: UserConnectionAnswer } as const

const userConnections = getRoute({
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

const addUserConnection = postRoute({
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

const changeUserConnection = putRoute({
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

const removeUserConnection = deleteRoute({
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

/** A connection as it may travel: whoever reads the bus learns neither address nor password, since only `query` opens it. */
const encryptTarget = async (
  { query }: Pick<Gateway, 'query'>,
  { url, user, password }: ConnectionTarget,
  call: Call,
): Promise<string> => encryptFor(await query.connectionKey({}, call), { url, user, password })

type Works = Extract<ConnectionTest, { ok: true }>

/** Tries a connection before anything is made of it; throws `invalid` with the reason when it does not work. */
const requireWorking = async (
  { query }: Pick<Gateway, 'query'>,
  encryptedTarget: string,
  call: Call,
): Promise<Works> => {
  const tested = await query.testConnection({ encryptedTarget }, call)
  if (tested.ok) return tested
  const { reason, message } = tested
  throw new ServiceError('invalid', `the connection was tried and does not work: ${message}`, { details: { reason } })
}

export const connectionRoutes: readonly Route[] = [
  connectionTest,
  connectionSession,
  userConnections,
  addUserConnection,
  changeUserConnection,
  removeUserConnection,
]
