import { type AdmissionQueue, openAdmissionQueue } from '#shared/admission/queue.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { PoolSettings } from './limits.ts'
import { openOfficialClient } from './official-client.ts'
import {
  type BufferedResponse,
  bufferResponse,
  type HostClient,
  type HostRequest,
  type ResponseReadOptions,
  type StreamedResponse,
  streamResponse,
} from './host-response.ts'
import { openUndiciPool } from './undici-pool.ts'

/** Maximum number of probes and kills that wait for the reserved connection of a host. */
const maxWaitingReserved = 32
const maxReservedWaitMs = 60_000

export interface ConnectionRequestOptions extends ResponseReadOptions {
  pool: PoolSettings
  /** Uses the reserved connection, one request at a time, so that probes and kills reach a host with a full pool. */
  reserved?: boolean
}

/**
 * HTTP connections to the hosts: per host, a pool for hot statements, the official client for all others, and one that
 * keeps no connection, for retries.
 */
export interface HostConnections extends AsyncDisposable {
  /** Sends a request and resolves with the head of the response. */
  stream(host: MonitoredHost, request: HostRequest, options: ConnectionRequestOptions): Promise<StreamedResponse>
  /** Sends a request and resolves with the whole response. */
  buffer(
    host: MonitoredHost,
    request: HostRequest,
    options: ConnectionRequestOptions & { maxBytes: number },
  ): Promise<BufferedResponse>
  /** Closes clients that were unused for `idleMs`; they reopen on their next use. */
  closeIdle(idleMs: number): void
  /** Closes the clients of a host once their responses have ended. */
  release(host: MonitoredHost): void
}

interface OpenClient {
  host: MonitoredHost
  client: HostClient
  pool: PoolSettings
  reserved: AdmissionQueue
  lastUsedMs: number
}

/** Returns connections that open with their first request. */
export const openHostConnections = (now: () => number = () => performance.now()): HostConnections => {
  const pools = new Map<string, OpenClient>()
  const clients = new Map<string, OpenClient>()
  const retries = new Map<string, OpenClient>()
  const maps = [pools, clients, retries]

  const clientFor = (
    host: MonitoredHost,
    { statement, newConnection }: HostRequest,
    { pool, reserved }: ConnectionRequestOptions,
  ): OpenClient => {
    const isHot = statement.hot === true && !reserved && !newConnection
    const map = newConnection ? retries : isHot ? pools : clients
    const known = map.get(host.key)
    if (known && isSame(known, host, pool)) {
      known.lastUsedMs = now()
      return known
    }
    known?.client.close()
    const client = isHot ? openUndiciPool(host, pool) : openOfficialClient(host, newConnection ? { idleMs: 0 } : pool)
    const opened = { host, client, pool, reserved: openReservedQueue(host), lastUsedMs: now() }
    map.set(host.key, opened)
    return opened
  }

  const closeIn = (map: Map<string, OpenClient>, key: string): void => {
    map.get(key)?.client.close()
    map.delete(key)
  }

  return {
    stream: (host, request, options) => streamResponse(clientFor(host, request, options).client, request, options),
    async buffer(host, request, options) {
      const { client, reserved } = clientFor(host, request, options)
      using _ = options.reserved ? toDisposable(await reserved.enter('person', 1, options.signal)) : undefined
      return await bufferResponse(client, request, options)
    },
    closeIdle(idleMs) {
      for (const map of maps) {
        for (const [key, { client, lastUsedMs }] of map) {
          if (now() - lastUsedMs >= idleMs && client.running === 0) closeIn(map, key)
        }
      }
    },
    release(host) {
      for (const map of maps) closeIn(map, host.key)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(maps.flatMap((map) => [...map.values()].map(({ client }) => client.destroy())))
    },
  }
}

/** Returns whether an open client matches the server, user and pool settings of a request. */
const isSame = ({ host, pool }: OpenClient, wanted: MonitoredHost, { size, idleMs }: PoolSettings): boolean =>
  pool.size === size &&
  pool.idleMs === idleMs &&
  (host === wanted ||
    (host.url.href === wanted.url.href &&
      host.user === wanted.user &&
      host.password === wanted.password &&
      host.connect === wanted.connect))

const openReservedQueue = ({ name }: MonitoredHost): AdmissionQueue =>
  openAdmissionQueue({
    refusal: `host ${name} has too many statements waiting`,
    details: { host: name },
    maxWaiting: maxWaitingReserved,
    maxWaitMs: maxReservedWaitMs,
  })

const toDisposable = (leave: () => void): Disposable => ({ [Symbol.dispose]: leave })
