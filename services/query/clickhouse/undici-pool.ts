import { type Dispatcher, Pool } from 'undici'
import { trustedConnector } from '#shared/net/connect.ts'
import { userAgent } from '#shared/sql/own-statements.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { PoolSettings } from './limits.ts'
import type { HostClient } from './reading.ts'
import { requestPath } from './statement.ts'
import { maxSweeps } from './turns.ts'

/** Servers that do not say how long they keep an idle connection are taken to keep it this long. */
export const idleConnectionMs = 4_000

/** Connections for hot statements, which cost a fraction of what the official client takes. */
export const openUndiciPool = (host: MonitoredHost, { size, idleMs }: PoolSettings): HostClient => {
  const pool = new Pool(host.url.origin, {
    connections: size + maxSweeps,
    pipelining: 1,
    allowH2: false,
    connect: host.connect ?? trustedConnector(),
    // Time is bounded by the caller's signal, once, for all parts of an exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: Math.min(idleConnectionMs, idleMs),
    keepAliveMaxTimeout: idleMs,
  })
  const authorization = `Basic ${Buffer.from(`${host.user}:${host.password}`).toString('base64')}`
  const headers = { authorization, 'user-agent': userAgent, 'content-type': 'text/plain' }
  return {
    send({ statement, queryId, sending }, reading) {
      let controller: Dispatcher.DispatchController | undefined
      let abortedFor: Error | undefined
      const path = requestPath(host.url, statement, queryId, sending)
      pool.dispatch(
        { method: 'POST', path, body: statement.sql, headers },
        {
          onRequestStart(started) {
            controller = started
            if (abortedFor) started.abort(abortedFor)
          },
          onResponseStart(_controller, statusCode, answered) {
            if (statusCode >= 200) reading.begun(statusCode, answered)
          },
          onResponseData: (started, chunk) => reading.came(chunk, started),
          onResponseEnd: () => reading.ended(),
          onResponseError: (_controller, error) => reading.ended(error),
        },
      )
      return {
        abort(reason) {
          abortedFor = reason
          controller?.abort(reason)
        },
        resume: () => controller?.resume(),
      }
    },
    get running() {
      return pool.stats.running
    },
    close: () => void pool.close().catch(() => undefined),
    destroy: () => pool.destroy(),
  }
}
