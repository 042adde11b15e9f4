import { LRUCache } from 'lru-cache'
import { ServiceError } from '#proto/errors.ts'
import type { SealedConnection } from '#proto/sealed-connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Net } from '#shared/net/net.ts'
import type { DatabaseClient } from '../clickhouse/client.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { dialledHost } from './dialled-host.ts'
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
