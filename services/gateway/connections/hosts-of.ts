import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Call, Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { connectionSessionHeader } from '#proto/http/connections.ts'
import type { Host } from '#proto/query.ts'
import { SealedConnection } from '#proto/sealed-connection.ts'
import type { Gateway } from '../gateway.ts'
import { type HostList, noSuchHost } from '../hosts/host-list.ts'
import { type KeptConnection, connectionKey, type OwnConnections, ownerOf } from './user-connections.ts'

/** A call that takes connections along. */
type CarryingCall = Call & { connections: Map<string, SealedConnection> }

/**
 * The hosts as one caller sees them: the configured ones and their own connections, or with a connection session that one alone.
 * A connection that is found is put into the call, since `query` knows it from there only.
 */
export const hostsOf = (gateway: Gateway, headers: IncomingHttpHeaders, call: CarryingCall): HostList => {
  let list: HostList | undefined
  // Many requests need no host, and most that do need a configured one.
  const hosts = (): HostList => (list ??= listOf(gateway, headers, call))
  return {
    all: async () => hosts().all(),
    find: (hostId, parameter) => hosts().find(hostId, parameter),
    lastKnown: () => hosts().lastKnown(),
  }
}

const listOf = (gateway: Gateway, headers: IncomingHttpHeaders, call: CarryingCall): HostList => {
  const session = sessionOf(headers, call.identity)
  if (session) return sessionHosts(session, call)
  return ownHosts(gateway.hosts, () => gateway.connections.ifAny(call), call)
}

const sessionHosts = ({ host: address, ...session }: Session, call: CarryingCall): HostList => {
  const host = asHost(0, session, address)
  return {
    all: async () => [host],
    lastKnown: () => [host],
    async find(hostId, parameter = 'hostId') {
      if (hostId !== host.id) throw noSuchHost(hostId, parameter, [host])
      call.connections.set(session.key, session)
      return host
    },
  }
}

const ownHosts = (
  configured: HostList,
  ownConnections: () => OwnConnections | undefined,
  call: CarryingCall,
): HostList => {
  const all = async () => {
    const own = ownConnections()
    const [hosts, kept] = await Promise.all([configured.all(), own?.kept.list(own.owner) ?? []])
    return own === undefined ? hosts : [...hosts, ...kept.map((each) => keptHost(own.owner, each))]
  }
  const findOwn = async (hostId: number, parameter: string) => {
    const own = ownConnections()
    if (own === undefined) throw keepsNone(parameter)
    const kept = await own.kept.byNumber(own.owner, -hostId)
    if (kept === undefined) throw noSuchHost(hostId, parameter, await all())
    const host = keptHost(own.owner, kept)
    call.connections.set(host.key, sealedConnection(own.owner, kept))
    return host
  }
  return {
    lastKnown: configured.lastKnown,
    all,
    find: (hostId, parameter = 'hostId') =>
      hostId >= 0 ? configured.find(hostId, parameter) : findOwn(hostId, parameter),
  }
}

const keepsNone = (parameter: string): ServiceError => {
  const message = 'must not be negative: you keep no connections of your own here'
  const details = { parameter, problems: [{ parameter, message }] }
  return new ServiceError('invalid', `${parameter} ${message}`, { details })
}

/** A kept connection as it travels with a call. */
export const sealedConnection = (owner: string, { id, name, sealed }: KeptConnection): SealedConnection => ({
  key: connectionKey(owner, id),
  name,
  sealed,
})

const keptHost = (owner: string, kept: KeptConnection): Host =>
  asHost(-kept.number, { key: connectionKey(owner, kept.id), name: kept.name }, kept.host)

const asHost = (id: number, { key, name }: Pick<Host, 'key' | 'name'>, host: string): Host => ({
  id,
  key,
  name,
  host,
  group: null,
  tags: [],
})

const longestHost = 300

/** A session as its token tells it. */
const Session = SealedConnection.extend({
  /** Host name and port; shown to whoever brings the token, and decides nothing. */
  host: z
    .string()
    .max(longestHost)
    .regex(/^\P{Cc}+$/u),
})
type Session = z.infer<typeof Session>

/**
 * The text that a browser keeps: an id, a name and an address to read, and what only `query` opens, which it does for that id and
 * name alone.
 */
export const sessionToken = (id: string, { name, host, sealed }: Omit<Session, 'key'>): string =>
  [id, encoded(name), encoded(host), sealed].join('.')

const encoded = (text: string): string => Buffer.from(text).toString('base64url')

const tokenShape = /^(?<id>[\w-]{22})\.(?<name>[\w-]{1,600})\.(?<host>[\w-]{1,400})\.(?<sealed>.+)$/

/** The session that a request carries in its header, if any. Another caller's token becomes a key under which it does not open. */
export const sessionOf = (headers: IncomingHttpHeaders, identity: Identity): Session | undefined => {
  const given = headers[connectionSessionHeader]
  if (given === undefined) return undefined
  const { id = '', name = '', host = '', sealed } = tokenShape.exec(String(given))?.groups ?? {}
  const key = connectionKey(ownerOf(identity), id)
  const read = Session.safeParse({ key, name: decoded(name), host: decoded(host), sealed })
  if (read.success) return read.data
  throw refused('must be the token of a connection session')
}

const decoded = (text: string): string => Buffer.from(text, 'base64url').toString('utf8')

/** For routes that tell of the configured hosts alone: nobody shall take theirs for the one that was brought. */
export const refuseSession = (headers: IncomingHttpHeaders): void => {
  if (headers[connectionSessionHeader] !== undefined) {
    throw refused('must be left out here, where only the configured hosts are told of')
  }
}

const refused = (why: string): ServiceError =>
  new ServiceError('invalid', `${connectionSessionHeader} ${why}`, { details: { parameter: connectionSessionHeader } })
