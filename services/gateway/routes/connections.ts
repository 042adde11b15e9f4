import type { CallContext } from '#proto/call.ts'
import type { ConnectionTarget, ConnectionTest } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ConnectionSessionResponse,
  ConnectionSessionRequest,
  ConnectionTestResponse,
  ConnectionTestRequest,
  connectionSessionHeader,
  type UserConnection,
  UserConnectionResponse,
  UserConnectionChange,
  UserConnectionPath,
  UserConnectionRequest,
  UserConnectionsResponse,
} from '#proto/http/connections.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { encryptForTransit } from '#shared/seal/transit.ts'
import type { AuditContext, AuditedAction } from '../audit/open-audit.ts'
import { createConnectionToken, toSealedConnection } from '../connections/caller-hosts.ts'
import {
  type SavedConnection,
  formatConnectionKey,
  generateConnectionId,
  computeOwnerId,
} from '../connections/user-connections.ts'
import type { Gateway } from '../gateway.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'
import { definePostRoute, defineDeleteRoute, defineGetRoute, definePutRoute, type Route } from '../http-route.ts'

const lifetimeSeconds = 15 * 60
const maxNameLength = 100
const dialling = { feature: null, access: 'anonymous', dials: true, query: noQuery } as const

const connectionTest = definePostRoute({
  ...dialling,
  path: '/api/v1/browser-connections/test',
  doc: 'Connects to a ClickHouse host that the caller provides and returns its version, or the reason of the failure',
  limit: 'browser-connection-test',
  body: ConnectionTestRequest,
  answer: ConnectionTestResponse,
  handle: async ({ body: target, call, isCallerLocal }, gateway) => {
    const encryptedTarget = await encryptTarget(gateway, target, call)
    return createSuccessBody(await gateway.query.testConnection({ encryptedTarget, isCallerLocal }, call), {})
  },
})

const connectionSession = definePostRoute({
  ...dialling,
  path: '/api/v1/browser-connections/sessions',
  doc: `Opens a session of 15 minutes with a ClickHouse host that the caller provides. It is host 0, and the only host, for requests with the token in the header ${connectionSessionHeader}`,
  limit: 'browser-connection-session',
  body: ConnectionSessionRequest,
  answer: ConnectionSessionResponse,
  handle: async ({ body: { name: requestedName, ...target }, call, isCallerLocal }, gateway) => {
    const encrypted = { encryptedTarget: await encryptTarget(gateway, target, call), isCallerLocal }
    const { version } = await requireWorking(gateway, encrypted, call)
    const name = requestedName ?? new URL(target.url).host.slice(0, maxNameLength)
    const id = generateConnectionId()
    const key = formatConnectionKey(computeOwnerId(call.identity), id)
    const expiresAt = new Date(gateway.clock.now() + lifetimeSeconds * 1_000).toISOString()
    const sealRequest = { key, name, ...encrypted, lifetimeMs: lifetimeSeconds * 1_000 }
    const token = createConnectionToken(id, { name, ...(await gateway.query.sealConnection(sealRequest, call)) })
    return createSuccessBody(
      { token, header: connectionSessionHeader, hostId: 0, name, version, expiresAt, lifetimeSeconds },
      {},
    )
  },
})

const path = '/api/v1/user-connections/{id}'
const common = { feature: null, limit: 'data', query: noQuery } as const
const changing = { ...common, access: 'write', answer: UserConnectionResponse } as const

const userConnections = defineGetRoute({
  ...common,
  path: '/api/v1/user-connections',
  doc: 'Lists the saved connections of the caller, without users and passwords',
  access: 'read',
  answer: UserConnectionsResponse,
  handle: async ({ call }, gateway) => {
    const { owner, saved } = await gateway.connections.of(call)
    const connections = (await saved.list(owner)).map(toUserConnection)
    return createSuccessBody(connections, { count: connections.length })
  },
})

const addUserConnection = definePostRoute({
  ...changing,
  path: '/api/v1/user-connections',
  doc: 'Tests and saves a connection; every route that takes a hostId accepts its hostId',
  body: UserConnectionRequest,
  handle: async ({ body: { name, ...target }, call, requestId, isCallerLocal }, gateway) => {
    const { owner, saved } = await gateway.connections.of(call)
    const encrypted = { encryptedTarget: await encryptTarget(gateway, target, call), isCallerLocal }
    await requireWorking(gateway, encrypted, call)
    const id = generateConnectionId()
    const sealRequest = { key: formatConnectionKey(owner, id), name, ...encrypted, lifetimeMs: null }
    const { sealed, host } = await gateway.query.sealConnection(sealRequest, call)
    const now = gateway.clock.now()
    const connection = { id, name, host, sealed, createdAtMs: now, updatedAtMs: now }
    const action = { action: 'keep-connection', target: { id, name, address: host } }
    return runAudited(gateway, { call, requestId }, action, () => saved.add(owner, connection))
  },
})

const changeUserConnection = definePutRoute({
  ...changing,
  path,
  doc: 'Renames a saved connection, or tests and replaces it',
  body: UserConnectionChange,
  handle: async ({ path, body, call, requestId, isCallerLocal }, gateway) => {
    const { owner, saved } = await gateway.connections.of(call)
    const present = requireFound(await saved.byId(owner, parseRequestInput(UserConnectionPath, path).id))
    const updatedAtMs = gateway.clock.now()
    const { name, url, user, password } = body
    const change = (to: Parameters<typeof saved.change>[2]) => {
      const target = { id: present.id, name, address: to.host ?? present.host }
      const action = { action: 'change-connection', target }
      return runAudited(gateway, { call, requestId }, action, () => saved.change(owner, present.id, to))
    }
    if (url !== undefined && user !== undefined && password !== undefined) {
      const encrypted = { encryptedTarget: await encryptTarget(gateway, { url, user, password }, call), isCallerLocal }
      await requireWorking(gateway, encrypted, call)
      const sealRequest = { key: formatConnectionKey(owner, present.id), name, ...encrypted, lifetimeMs: null }
      const { sealed, host } = await gateway.query.sealConnection(sealRequest, call)
      return change({ name, host, sealed, updatedAtMs })
    }
    const { sealed } = await gateway.query.renameConnection(
      { connection: toSealedConnection(owner, present), name },
      call,
    )
    return change({ name, sealed, updatedAtMs })
  },
})

const removeUserConnection = defineDeleteRoute({
  ...changing,
  path,
  doc: 'Deletes a saved connection',
  handle: async ({ path, call, requestId }, gateway) => {
    const { owner, saved } = await gateway.connections.of(call)
    const { id } = parseRequestInput(UserConnectionPath, path)
    const action = { action: 'forget-connection', target: { id } }
    return runAudited(gateway, { call, requestId }, action, () => saved.remove(owner, id))
  },
})

/** Runs and audits a change of a saved connection; returns the connection after the change. */
const runAudited = async (
  { audit }: Gateway,
  context: AuditContext,
  action: Omit<AuditedAction, 'host'>,
  change: () => Promise<SavedConnection | undefined>,
) =>
  createSuccessBody(
    toUserConnection(await audit.of({ ...action, host: null }, context, async () => requireFound(await change()))),
    {},
  )

/** Throws the same error for a connection of another caller as for an unknown one. */
const requireFound = (connection: SavedConnection | undefined): SavedConnection => {
  if (connection) return connection
  throw new ServiceError('not-found', 'connection not found', { details: { parameter: 'id' } })
}

const toUserConnection = ({ id, number, name, host, createdAtMs, updatedAtMs }: SavedConnection): UserConnection => ({
  id,
  hostId: -number,
  name,
  host,
  source: 'database',
  createdAt: new Date(createdAtMs).toISOString(),
  updatedAt: new Date(updatedAtMs).toISOString(),
})

/** Encrypts a connection so that only `query` can read its address and password on the bus. */
const encryptTarget = async (
  { query }: Pick<Gateway, 'query'>,
  { url, user, password }: ConnectionTarget,
  call: CallContext,
): Promise<string> => encryptForTransit(await query.connectionKey({}, call), { url, user, password })

type WorkingConnection = Extract<ConnectionTest, { ok: true }>

/** Tests a connection; throws `invalid` with the reason when it fails. */
const requireWorking = async (
  { query }: Pick<Gateway, 'query'>,
  encrypted: { encryptedTarget: string; isCallerLocal: boolean },
  call: CallContext,
): Promise<WorkingConnection> => {
  const tested = await query.testConnection(encrypted, call)
  if (tested.ok) return tested
  const { reason, message } = tested
  throw new ServiceError('invalid', `connection test failed: ${message}`, { details: { reason } })
}

export const connectionRoutes: readonly Route[] = [
  connectionTest,
  connectionSession,
  userConnections,
  addUserConnection,
  changeUserConnection,
  removeUserConnection,
]
