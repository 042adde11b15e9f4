import { Pool } from 'undici'
import { userAgent } from '#shared/sql/own-statements.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { begin, type Beginning, type Begun, gather, type Gathered, type Gathering } from './dispatch.ts'
import { maxSweeps } from './turns.ts'

const connectTimeoutMs = 5_000
/** Servers that do not say how long they keep an idle connection are taken to keep it this long. */
const idleConnectionMs = 4_000

/** What `COLUMNDB_POOL_*` say now. */
export interface PoolSettings {
  /** Statements of callers and reports at once; sweeps have connections besides. */
  size: number
  idleMs: number
}

export interface Request {
  path: string
  body: string
  signal: AbortSignal
  /** Goes over the one connection kept beside the pool, so that a probe or a kill gets through to a full host. */
  reserved?: boolean
}

/** A request whose answer is read as it comes. */
export type BegunRequest = Request & Beginning

/** A request whose answer is read as a whole. */
export type WholeRequest = Request & Gathering

/** HTTP connections to the hosts, one pool each. */
export interface Connections extends AsyncDisposable {
  /** Waits for the head of an answer. */
  begin(host: MonitoredHost, request: BegunRequest, settings: PoolSettings): Promise<Begun>
  /** Waits for the whole of an answer. */
  gather(host: MonitoredHost, request: WholeRequest, settings: PoolSettings): Promise<Gathered>
  /** Closes pools that nobody used for `idleMs`, and all but the connection of the probe stays closed until the next use. */
  closeIdle(idleMs: number): void
  /** Closes what is open to a host, once its answers have ended. */
  release(host: MonitoredHost): void
  /** Hosts with an open pool. */
  readonly open: number
}

interface HostPool {
  pool: Pool
  origin: string
  settings: PoolSettings
  lastUsedMs: number
}

/** Opens no connection yet; pools appear with their first request. */
export const openConnections = (now: () => number = () => performance.now()): Connections => {
  const pools = new Map<string, HostPool>()
  const reserves = new Map<string, HostPool>()

  const poolOf = (map: Map<string, HostPool>, host: MonitoredHost, settings: PoolSettings): Pool => {
    const { origin } = addressOf(host)
    const known = map.get(host.key)
    if (
      known?.origin === origin &&
      known.settings.size === settings.size &&
      known.settings.idleMs === settings.idleMs
    ) {
      known.lastUsedMs = now()
      return known.pool
    }
    if (known) close(known)
    const pool = openPool(host, settings)
    map.set(host.key, { pool, origin, settings, lastUsedMs: now() })
    return pool
  }

  const poolFor = (host: MonitoredHost, { reserved }: Request, settings: PoolSettings): Pool =>
    reserved
      ? poolOf(reserves, host, { ...settings, size: 1 })
      : poolOf(pools, host, { ...settings, size: settings.size + maxSweeps })

  return {
    get open() {
      return pools.size
    },
    begin: (host, request, settings) => begin(poolFor(host, request, settings), optionsOf(host, request), request),
    gather: (host, request, settings) => gather(poolFor(host, request, settings), optionsOf(host, request), request),
    closeIdle(idleMs) {
      for (const map of [pools, reserves]) {
        for (const [key, entry] of map) {
          if (now() - entry.lastUsedMs >= idleMs && entry.pool.stats.running === 0) closeIn(map, key)
        }
      }
    },
    release(host) {
      closeIn(pools, host.key)
      closeIn(reserves, host.key)
    },
    async [Symbol.asyncDispose]() {
      const all = [...pools.values(), ...reserves.values()]
      await Promise.all(all.map((entry) => entry.pool.destroy()))
    },
  }
}

const openPool = (host: MonitoredHost, { size, idleMs }: PoolSettings): Pool =>
  new Pool(host.url.origin, {
    connections: size,
    pipelining: 1,
    allowH2: false,
    connect: host.connect ?? { timeout: connectTimeoutMs },
    // Time is bounded by the caller's signal, once, for all parts of an exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: Math.min(idleConnectionMs, idleMs),
    keepAliveMaxTimeout: idleMs,
  })

const closeIn = (pools: Map<string, HostPool>, key: string): void => {
  const entry = pools.get(key)
  pools.delete(key)
  if (entry) close(entry)
}

/** A pool that is still answering ends when its last answer has. */
const close = (entry: HostPool): void => {
  entry.pool.close().catch(() => undefined)
}

const optionsOf = (host: MonitoredHost, { path, body }: Request) => ({
  method: 'POST' as const,
  path,
  body,
  headers: addressOf(host).headers,
})

interface Address {
  origin: string
  headers: Readonly<Record<string, string>>
}

/** A memory of a pure function only: a host is the same as long as its object is. */
const addresses = new WeakMap<MonitoredHost, Address>()

const addressOf = (host: MonitoredHost): Address => {
  const known = addresses.get(host)
  if (known) return known
  const authorization = `Basic ${Buffer.from(`${host.user}:${host.password}`).toString('base64')}`
  const headers = { authorization, 'user-agent': userAgent, 'content-type': 'text/plain' }
  const address = { origin: host.url.origin, headers }
  addresses.set(host, address)
  return address
}
