import { LRUCache } from 'lru-cache'
import type { ConnectionTarget } from '#proto/connections.ts'
import { ServiceError } from '#proto/errors.ts'
import type { SealedConnection } from '#proto/sealed-connection.ts'
import { NetFailure, unknownName } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { Sealing } from './sealed-content.ts'

/** Hosts that people brought and that are open in one process; the one unused for longest makes room. */
export const maxOpen = 200
const idleMs = 300_000
const sweepMs = 30_000

/** Hosts that people brought with their calls. Their keys hold 128 random bits, so knowing one is the right to it. */
export interface BroughtHosts extends Disposable {
  /** Opens what came with a call; throws `gone` for a session that is over. */
  admit(connection: SealedConnection): Promise<void>
  get(key: string): MonitoredHost | undefined
  /** How many are open. */
  readonly open: number
}

interface Place {
  sealing: Sealing
  net: Net
  client: Pick<DatabaseClient, 'release'>
  clock: Clock
  sweepEveryMs?: number
}

interface Opened {
  host: MonitoredHost
  sealed: string
  expiresAtMs: number
}

/** Nothing is open at first. What is open is closed after five minutes without use, and at its end. */
export const openBroughtHosts = ({ sealing, net, client, clock, sweepEveryMs = sweepMs }: Place): BroughtHosts => {
  const opened = new LRUCache<string, Opened>({
    max: maxOpen,
    ttl: idleMs,
    ttlResolution: 0,
    perf: { now: clock.elapsedMs },
    dispose: ({ host }) => client.release(host),
  })
  const sweep = (): void => {
    opened.purgeStale()
    const past = [...opened.entries()].filter(([, { expiresAtMs }]) => expiresAtMs <= clock.now())
    for (const [key] of past) opened.delete(key)
  }
  const timer = setInterval(sweep, sweepEveryMs)
  timer.unref()

  const openNew = async (connection: SealedConnection): Promise<Opened> => {
    const { target, expiresAtMs } = await sealing.open(connection)
    const host = dialledHost(net, target, connection)
    return { host, sealed: connection.sealed, expiresAtMs: expiresAtMs ?? Infinity }
  }

  return {
    get open() {
      return opened.size
    },
    async admit(connection) {
      const { key, name, sealed } = connection
      const known = opened.get(key)
      const isSame = known?.sealed === sealed && known.host.name === name
      const entry = isSame ? known : await openNew(connection)
      if (entry.expiresAtMs <= clock.now()) {
        opened.delete(key)
        throw ended()
      }
      opened.set(key, entry)
    },
    get: (key) => opened.get(key)?.host,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const ended = (): ServiceError =>
  new ServiceError('gone', 'the connection session has ended; open a new one', { details: { reason: 'session-ended' } })

/** What the host list would say of it. */
interface Called {
  key: string
  name?: string
}

/** A host that somebody brought: each of its connections goes through the guard. Throws `invalid` for an address that is refused as it stands. */
export const dialledHost = (
  net: Net,
  { url: given, user, password }: ConnectionTarget,
  { key, name }: Called,
): MonitoredHost => {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined) throw refusedUrl('must begin with http:// or https://')
  if (url.search !== '' || url.hash !== '') throw refusedUrl('must have neither query nor fragment')
  return { id: -1, key, name: name ?? url.host, url, user, password, group: null, tags: [], connect: net.connect }
}

/** Checks where an address leads, now; its connections are checked again whenever they are made. */
export const requireDiallable = async (net: Net, url: string): Promise<void> => {
  try {
    await net.check(url, 'database')
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw refusedUrl(error.systemCode === unknownName ? nameUnknown : sentences[error.rule ?? 'address'])
  }
}

const nameUnknown = 'has a host name that the resolver does not know'

const sentences: Readonly<Record<string, string>> = {
  url: 'must be an address that begins with http:// or https://',
  scheme: 'must begin with http:// or https://',
  userinfo: 'must not contain user or password; give them in fields of their own',
  // Where private networks are closed: one sentence for names that do not exist and for those that lead inside, so that nobody can list what is there.
  name: 'leads nowhere that this installation may connect to',
  address: 'leads nowhere that this installation may connect to',
}

const refusedUrl = (sentence = 'cannot be used'): ServiceError =>
  new ServiceError('invalid', `url ${sentence}`, {
    details: { parameter: 'url', problems: [{ parameter: 'url', message: sentence }] },
  })
