import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { type MonitoredHost, telemetryName } from '../hosts/host-list.ts'
import type { Connections } from './connections.ts'
import { wholeExchange } from './exchange.ts'
import { hostFailure } from './failure.ts'
import type { Limits, PoolSettings } from './limits.ts'
import type { Statement } from './statement.ts'
import { TimeLimit } from './time-limit.ts'

const killLimitMs = 5_000
/** Kills on their way to one host; more would only queue behind one another. */
const maxKillsPerHost = 20

/** Ends statements that nobody waits for any more. */
export interface Killer extends AsyncDisposable {
  kill(host: MonitoredHost, queryId: string, readonly: number, pool: PoolSettings): void
}

export const openKiller = (connections: Connections, log: Telemetry['log']): Killer => {
  const pending = new Map<string, Set<Promise<void>>>()

  const send = async (host: MonitoredHost, queryId: string, pool: PoolSettings): Promise<void> => {
    const never = new AbortController().signal
    using limit = new TimeLimit({ outer: never, limitMs: killLimitMs, late: () => hostFailure(host, 'timeout') })
    const statement: Statement = { what: 'kill', sql: `KILL QUERY WHERE query_id = '${queryId}' ASYNC`, short: true }
    // Sent without settings, since `readonly` would forbid it.
    const terms = {
      readonly: 1,
      maxExecutionSeconds: killLimitMs,
      background: false,
      format: 'JSONCompact',
      limit,
      pool,
      reserved: true,
    } as const
    await wholeExchange(connections, host, statement, terms, () => undefined)
  }

  return {
    kill(host, queryId, readonly, pool) {
      // Users whose profile is read-only may not kill; for them the closed connection has to do.
      if (readonly === 1) return
      const kills = pending.get(host.key) ?? new Set()
      if (kills.size >= maxKillsPerHost) return
      pending.set(host.key, kills)
      const killing: Promise<void> = send(host, queryId, pool)
        .catch((error: unknown) => log.debug({ err: error, host: telemetryName(host) }, 'statement not killed'))
        .finally(() => {
          kills.delete(killing)
          if (kills.size === 0) pending.delete(host.key)
        })
      kills.add(killing)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pending.values()].flatMap((kills) => [...kills]))
    },
  }
}

/** Closes idle pools every `COLUMNDB_POOL_CLEANUP_INTERVAL`; the settings are read again each time. */
export const sweepIdlePools = (connections: Pick<Connections, 'closeIdle'>, limits: () => Limits): Disposable => {
  let timer: NodeJS.Timeout
  const next = (): void => {
    timer = setTimeout(() => {
      connections.closeIdle(limits().pool.idleMs)
      next()
    }, limits().cleanupIntervalMs)
    timer.unref()
  }
  next()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
