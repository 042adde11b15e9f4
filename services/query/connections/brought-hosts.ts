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
  usedMs: number
}

/** Nothing is open at first. What is open is closed after five minutes without use, and at its end. */
export const openBroughtHosts = ({ sealing, net, client, clock, sweepEveryMs = sweepMs }: Place): BroughtHosts => {
  const opened = new Map<string, Opened>()

  const close = (key: string): void => {
    const entry = opened.get(key)
    opened.delete(key)
    if (entry) client.release(entry.host)
  }
  const sweep = (): void => {
    const isIdle = ({ usedMs }: Opened) => clock.elapsedMs() - usedMs >= idleMs
    for (const [key, entry] of opened) if (isIdle(entry) || entry.expiresAtMs <= clock.now()) close(key)
  }
  const timer = setInterval(sweep, sweepEveryMs)
  timer.unref()

  const openNew = async (connection: SealedConnection): Promise<Opened> => {
    const { target, expiresAtMs } = await sealing.open(connection)
    const host = dialledHost(net, target, connection)
    return { host, sealed: connection.sealed, expiresAtMs: expiresAtMs ?? Infinity, usedMs: clock.elapsedMs() }
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
        close(key)
        throw ended()
      }
      if (known && !isSame) close(key)
      // Taken out and put back, it stands behind all others.
      opened.delete(key)
      opened.set(key, Object.assign(entry, { usedMs: clock.elapsedMs() }))
      const [longestUnused] = opened.keys()
      if (opened.size > maxOpen && longestUnused !== undefined) close(longestUnused)
    },
    get: (key) => opened.get(key)?.host,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const ended = (): ServiceError =>
  new ServiceError('gone', 'the connection session has ended; open a new one', { details: { reason: 'session-ended' } })
