import { type AdmissionQueue, openAdmissionQueue } from '#shared/admission/queue.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { PoolSettings } from './limits.ts'
import { openOfficialClient } from './official-client.ts'
import { type Begun, begin, type Bounds, gather, type Gathered, type HostClient, type HostRequest } from './reading.ts'
import { openUndiciPool } from './undici-pool.ts'

/** Probes and kills of one host that may wait for the connection that they share. */
const maxWaitingReserved = 32
const maxReservedWaitMs = 60_000

/** How a request is carried. */
export interface Carrying extends Bounds {
  pool: PoolSettings
  /** One at a time and beside the callers' connections, so that a probe or a kill gets through to a full host. */
  reserved?: boolean
}

/** HTTP connections to the hosts: for each a pool for what is hot, and the official client for all else. */
export interface Connections extends AsyncDisposable {
  /** Waits for the head of an answer. */
  begin(host: MonitoredHost, request: HostRequest, carrying: Carrying): Promise<Begun>
  /** Waits for the whole of an answer. */
  gather(host: MonitoredHost, request: HostRequest, carrying: Carrying & { maxBytes: number }): Promise<Gathered>
  /** Closes what nobody used for `idleMs`, until its next use. */
  closeIdle(idleMs: number): void
  /** Closes what is open to a host, once its answers have ended. */
  release(host: MonitoredHost): void
}

interface Opened {
  host: MonitoredHost
  client: HostClient
  pool: PoolSettings
  reserved: AdmissionQueue
  lastUsedMs: number
}

/** Opens no connection yet; they appear with their first request. */
export const openConnections = (now: () => number = () => performance.now()): Connections => {
  const pools = new Map<string, Opened>()
  const clients = new Map<string, Opened>()

  const openedFor = (host: MonitoredHost, { statement }: HostRequest, { pool, reserved }: Carrying): Opened => {
    const isHot = statement.hot === true && !reserved
    const map = isHot ? pools : clients
    const known = map.get(host.key)
    if (known && isSame(known, host, pool)) {
      known.lastUsedMs = now()
      return known
    }
    known?.client.close()
    const client = isHot ? openUndiciPool(host, pool) : openOfficialClient(host, pool)
    const opened = { host, client, pool, reserved: openReservedQueue(host), lastUsedMs: now() }
    map.set(host.key, opened)
    return opened
  }

  const closeIn = (map: Map<string, Opened>, key: string): void => {
    map.get(key)?.client.close()
    map.delete(key)
  }

  return {
    begin: (host, request, carrying) => begin(openedFor(host, request, carrying).client, request, carrying),
    async gather(host, request, carrying) {
      const { client, reserved } = openedFor(host, request, carrying)
      using _ = carrying.reserved ? leaving(await reserved.enter('person', 1, carrying.signal)) : undefined
      return await gather(client, request, carrying)
    },
    closeIdle(idleMs) {
      for (const map of [pools, clients]) {
        for (const [key, { client, lastUsedMs }] of map) {
          if (now() - lastUsedMs >= idleMs && client.running === 0) closeIn(map, key)
        }
      }
    },
    release(host) {
      closeIn(pools, host.key)
      closeIn(clients, host.key)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values(), ...clients.values()].map(({ client }) => client.destroy()))
    },
  }
}

/** Whether what was opened leads to the same server as the same user, and as wide. */
const isSame = ({ host, pool }: Opened, wanted: MonitoredHost, { size, idleMs }: PoolSettings): boolean =>
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

const leaving = (leave: () => void): Disposable => ({ [Symbol.dispose]: leave })
