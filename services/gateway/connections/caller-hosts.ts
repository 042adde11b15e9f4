import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { CallContext, Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { connectionSessionHeader } from '#proto/http/connections.ts'
import type { Host } from '#proto/query.ts'
import { SealedConnection } from '#proto/sealed-connection.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import type { Gateway } from '../gateway.ts'
import { type HostList, createUnknownHostError } from '../hosts/host-list.ts'
import {
  type SavedConnection,
  formatConnectionKey,
  type CallerConnections,
  computeOwnerId,
} from './user-connections.ts'

/** A call with sealed connections, which `query` can decrypt. */
type CallWithConnections = CallContext & { connections: Map<string, SealedConnection> }

/**
 * Returns the hosts of one caller: the configured hosts and the saved connections, or only the host of a connection
 * session. `find` adds the sealed connection of a host to the call, because `query` reads it from there.
 */
export const openCallerHosts = (
  gateway: Gateway,
  headers: IncomingHttpHeaders,
  call: CallWithConnections,
): HostList => {
  let list: HostList | undefined
  // The list is created on first use, because many requests need no host.
  const hosts = (): HostList => (list ??= listOf(gateway, headers, call))
  return {
    all: async () => hosts().all(),
    find: (hostId, parameter) => hosts().find(hostId, parameter),
    lastKnown: () => hosts().lastKnown(),
    expire: () => hosts().expire(),
  }
}

const listOf = (gateway: Gateway, headers: IncomingHttpHeaders, call: CallWithConnections): HostList => {
  const session = readConnectionSession(headers, call.identity)
  if (session) return sessionHosts(session, call)
  return ownHosts(gateway.hosts, () => gateway.connections.ifAny(call), call)
}

const sessionHosts = ({ host: address, ...session }: Session, call: CallWithConnections): HostList => {
  const host = asHost(0, session, address)
  return {
    all: async () => [host],
    lastKnown: () => [host],
    expire: () => undefined,
    async find(hostId, parameter = 'hostId') {
      if (hostId !== host.id) throw createUnknownHostError(hostId, parameter, [host])
      call.connections.set(session.key, session)
      return host
    },
  }
}

const ownHosts = (
  configured: HostList,
  ownConnections: () => CallerConnections | undefined,
  call: CallWithConnections,
): HostList => {
  const all = async () => {
    const own = ownConnections()
    if (own === undefined) return configured.all()
    // While the state database is unavailable, the configured hosts are still listed.
    const listSaved = () => ignoreUnavailable(() => own.saved.list(own.owner))
    const [hosts, saved = []] = await Promise.all([configured.all(), listSaved()])
    return [...hosts, ...saved.map((each) => savedHost(own.owner, each))]
  }
  const findOwn = async (hostId: number, parameter: string) => {
    const own = ownConnections()
    if (own === undefined) throw noSavedConnections(parameter)
    const saved = await own.saved.byNumber(own.owner, -hostId)
    if (saved === undefined) throw createUnknownHostError(hostId, parameter, await all())
    const host = savedHost(own.owner, saved)
    call.connections.set(host.key, toSealedConnection(own.owner, saved))
    return host
  }
  return {
    lastKnown: configured.lastKnown,
    expire: configured.expire,
    all,
    find: (hostId, parameter = 'hostId') =>
      hostId >= 0 ? configured.find(hostId, parameter) : findOwn(hostId, parameter),
  }
}

const noSavedConnections = (parameter: string): ServiceError => {
  const message = 'must not be negative: you have no saved connections'
  const details = { parameter, problems: [{ parameter, message }] }
  return new ServiceError('invalid', `${parameter} ${message}`, { details })
}

/** Converts a saved connection to the format of a call. */
export const toSealedConnection = (owner: string, { id, name, sealed }: SavedConnection): SealedConnection => ({
  key: formatConnectionKey(owner, id),
  name,
  sealed,
})

const savedHost = (owner: string, saved: SavedConnection): Host =>
  asHost(-saved.number, { key: formatConnectionKey(owner, saved.id), name: saved.name }, saved.host)

const asHost = (id: number, { key, name }: Pick<Host, 'key' | 'name'>, host: string): Host => ({
  id,
  key,
  name,
  host,
  group: null,
  tags: [],
})

const maxHostLength = 300

/** The content of a session token. */
const Session = SealedConnection.extend({
  /** Host name and port, for display only. */
  host: z
    .string()
    .max(maxHostLength)
    .regex(/^\P{Cc}+$/u),
})
type Session = z.infer<typeof Session>

/**
 * Returns the token that a browser stores: a readable id, name and address, and the sealed connection. Only `query` can
 * decrypt the connection, and only with the same id and name.
 */
export const createConnectionToken = (id: string, { name, host, sealed }: Omit<Session, 'key'>): string =>
  [id, encoded(name), encoded(host), sealed].join('.')

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

const tokenShape = /^(?<id>[\w-]{22})\.(?<name>[\w-]{1,600})\.(?<host>[\w-]{1,400})\.(?<sealed>.+)$/

/**
 * Returns the session in the request header, if any. Throws `invalid` for a malformed token. Its key is derived from
 * the caller, so `query` cannot decrypt a token that was issued to another caller.
 */
export const readConnectionSession = (headers: IncomingHttpHeaders, identity: Identity): Session | undefined => {
  const token = headers[connectionSessionHeader]
  if (token === undefined) return undefined
  const { id = '', name = '', host = '', sealed } = tokenShape.exec(String(token))?.groups ?? {}
  const key = formatConnectionKey(computeOwnerId(identity), id)
  const read = Session.safeParse({ key, name: decoded(name), host: decoded(host), sealed })
  if (read.success) return read.data
  throw invalidSession('must be the token of a connection session')
}

const decoded = (text: string): string => Buffer.from(text, 'base64url').toString('utf8')

/** Rejects connection sessions, for routes that cover configured hosts only. */
export const rejectConnectionSession = (headers: IncomingHttpHeaders): void => {
  if (headers[connectionSessionHeader] !== undefined) {
    throw invalidSession('must be omitted: only configured hosts are supported here')
  }
}

const invalidSession = (why: string): ServiceError =>
  new ServiceError('invalid', `${connectionSessionHeader} ${why}`, { details: { parameter: connectionSessionHeader } })
