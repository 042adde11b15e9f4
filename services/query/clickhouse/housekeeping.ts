import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { type MonitoredHost, toTelemetryName } from '../hosts/host-list.ts'
import type { HostConnections } from './connections.ts'
import { sendBufferedStatement } from './send-statement.ts'
import { createHostError } from './failure.ts'
import type { HostClientLimits, PoolSettings } from './limits.ts'
import { TimeLimit } from './time-limit.ts'
import type { Statement } from './statement.ts'

const killLimitMs = 5_000
/** Maximum number of pending kills per host. Further ones would only wait for the reserved connection. */
const maxKillsPerHost = 20

/** Kills statements whose callers no longer wait for the result. */
export interface QueryKiller extends AsyncDisposable {
  kill(host: MonitoredHost, queryId: string, readonly: number, pool: PoolSettings): void
}

export const openQueryKiller = (connections: HostConnections, log: Telemetry['log']): QueryKiller => {
  const pending = new Map<string, Set<Promise<void>>>()

  const send = async (host: MonitoredHost, queryId: string, pool: PoolSettings): Promise<void> => {
    const never = new AbortController().signal
    using limit = new TimeLimit({ outer: never, limitMs: killLimitMs, late: () => createHostError(host, 'timeout') })
    const statement: Statement = { what: 'kill', sql: `KILL QUERY WHERE query_id = '${queryId}' ASYNC`, short: true }
    // `readonly: 1` sends no settings; the setting `readonly` would forbid KILL QUERY.
    const options = {
      readonly: 1,
      maxExecutionSeconds: killLimitMs / 1_000,
      background: false,
      format: 'JSONCompact',
      limit,
      pool,
      reserved: true,
    } as const
    await sendBufferedStatement(connections, host, statement, options, () => undefined)
  }

  return {
    kill(host, queryId, readonly, pool) {
      // Read-only users may not kill queries; ClickHouse ends theirs when the connection closes.
      if (readonly === 1) return
      const kills = pending.get(host.key) ?? new Set()
      if (kills.size >= maxKillsPerHost) return
      pending.set(host.key, kills)
      const killing: Promise<void> = send(host, queryId, pool)
        .catch((error: unknown) => log.debug({ err: error, host: toTelemetryName(host) }, 'killing the query failed'))
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

/** Closes idle pools every `COLUMNDB_POOL_CLEANUP_INTERVAL`, which is read again before each run. */
export const startIdlePoolCleanup = (
  connections: Pick<HostConnections, 'closeIdle'>,
  limits: () => HostClientLimits,
): Disposable => {
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
