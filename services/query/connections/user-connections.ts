import { LRUCache } from 'lru-cache'
import type { ConnectionTarget } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import type { SealedConnection } from '#proto/sealed-connection.ts'
import { NetFailure, nameNotFoundCode } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { ConnectionSealer } from './sealed-content.ts'

/** Maximum number of open user connections per process. Beyond it, the least recently used one is closed. */
export const maxOpenConnections = 200
const idleMs = 300_000
const sweepMs = 30_000

/**
 * The open user connections by key. A key contains 128 random bits, so any caller that has it may use the connection.
 */
export interface UserConnections extends Disposable {
  /** Opens the connection of a call; throws `gone` once its session has ended. */
  admit(connection: SealedConnection): Promise<void>
  get(key: string): MonitoredHost | undefined
  readonly openCount: number
}

interface UserConnectionsDeps {
  sealing: ConnectionSealer
  net: Net
  client: Pick<DatabaseClient, 'release'>
  clock: Clock
  sweepEveryMs?: number
}

interface OpenConnection {
  host: MonitoredHost
  sealed: string
  expiresAtMs: number
}

/** Returns an empty registry. Connections close after five minutes without use and when their session ends. */
export const openUserConnections = ({
  sealing,
  net,
  client,
  clock,
  sweepEveryMs = sweepMs,
}: UserConnectionsDeps): UserConnections => {
  const opened = new LRUCache<string, OpenConnection>({
    max: maxOpenConnections,
    ttl: idleMs,
    ttlResolution: 0,
    perf: { now: clock.elapsedMs },
    dispose: ({ host }) => client.release(host),
  })
  const sweep = (): void => {
    opened.purgeStale()
    const expired = [...opened.entries()].filter(([, { expiresAtMs }]) => expiresAtMs <= clock.now())
    for (const [key] of expired) opened.delete(key)
  }
  const timer = setInterval(sweep, sweepEveryMs)
  timer.unref()

  const openNew = async (connection: SealedConnection): Promise<OpenConnection> => {
    const { target, expiresAtMs, isLocal } = await sealing.open(connection)
    const host = toGuardedHost(selectNet(net, isLocal), target, connection)
    return { host, sealed: connection.sealed, expiresAtMs: expiresAtMs ?? Infinity }
  }

  return {
    get openCount() {
      return opened.size
    },
    async admit(connection) {
      const { key, name, sealed } = connection
      const known = opened.get(key)
      const isSame = known?.sealed === sealed && known.host.name === name
      const entry = isSame ? known : await openNew(connection)
      if (entry.expiresAtMs <= clock.now()) {
        opened.delete(key)
        throw sessionEnded()
      }
      opened.set(key, entry)
    },
    get: (key) => opened.get(key)?.host,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const sessionEnded = (): ServiceError =>
  new ServiceError('gone', 'the connection session has ended; open a new one', { details: { reason: 'session-ended' } })

interface HostIdentity {
  key: string
  name?: string
}

type GuardedNet = Net['local']

/** Returns the network for an address; a caller on this machine may connect to more addresses. */
export const selectNet = (net: Net, isLocal = false): GuardedNet => (isLocal ? net.local : net)

/** Returns a host that dials only through the network guard. Throws `invalid` for a malformed address. */
export const toGuardedHost = (
  net: GuardedNet,
  { url: address, user, password }: ConnectionTarget,
  { key, name }: HostIdentity,
): MonitoredHost => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined) throw invalidUrl('must begin with http:// or https://')
  if (url.search !== '' || url.hash !== '') throw invalidUrl('must have neither query nor fragment')
  return { id: -1, key, name: name ?? url.host, url, user, password, group: null, tags: [], connect: net.connect }
}

/** Throws `invalid` when the guard blocks an address now. The guard checks again on every connection. */
export const requireAllowedUrl = async (net: Pick<Net, 'check'>, url: string): Promise<void> => {
  try {
    await net.check(url, 'database')
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw invalidUrl(error.systemCode === nameNotFoundCode ? nameUnknown : sentences[error.rule ?? 'address'])
  }
}

const nameUnknown = 'has a host name that does not resolve'

const sentences: Readonly<Record<string, string>> = {
  url: 'must begin with http:// or https://',
  scheme: 'must begin with http:// or https://',
  userinfo: 'must not contain a user or password; send them in the fields "user" and "password"',
  // Unknown and private names share one message, so that callers cannot list internal names.
  name: 'is not an address that this installation may connect to',
  address: 'is not an address that this installation may connect to',
}

const invalidUrl = (sentence = 'cannot be used'): ServiceError =>
  new ServiceError('invalid', `url ${sentence}`, {
    details: { parameter: 'url', problems: [{ parameter: 'url', message: sentence }] },
  })
