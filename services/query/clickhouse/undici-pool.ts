import { type Dispatcher, Pool } from 'undici'
import { createUnguardedConnector } from '#shared/net/connect.ts'
import { userAgent } from '#shared/sql/statement-text.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { maxSweepStatements } from './host-queues.ts'
import type { HostClient } from './host-response.ts'
import type { PoolSettings } from './limits.ts'
import { buildRequestPath, traceHeaders } from './statement.ts'

/** Assumed keep-alive time of servers that do not announce one. */
export const defaultKeepAliveMs = 4_000

/** Opens a connection pool for hot statements; it needs a fraction of the CPU time of the official client. */
export const openUndiciPool = (host: MonitoredHost, { size, idleMs }: PoolSettings): HostClient => {
  const pool = new Pool(host.url.origin, {
    connections: size + maxSweepStatements,
    pipelining: 1,
    allowH2: false,
    connect: host.connect ?? createUnguardedConnector(),
    // The signal of the caller limits the time of the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: Math.min(defaultKeepAliveMs, idleMs),
    keepAliveMaxTimeout: idleMs,
  })
  const authorization = `Basic ${Buffer.from(`${host.user}:${host.password}`).toString('base64')}`
  const headers = { authorization, 'user-agent': userAgent, 'content-type': 'text/plain' }
  return {
    send({ statement, queryId, sending }, handler) {
      let controller: Dispatcher.DispatchController | undefined
      let abortedFor: Error | undefined
      const path = buildRequestPath(host.url, statement, queryId, sending)
      pool.dispatch(
        { method: 'POST', path, body: statement.sql, headers: { ...headers, ...traceHeaders(sending) } },
        {
          onRequestStart(started) {
            controller = started
            if (abortedFor) started.abort(abortedFor)
          },
          onResponseStart(_controller, statusCode, responseHeaders) {
            if (statusCode >= 200) handler.onHead(statusCode, responseHeaders)
          },
          onResponseData: (started, chunk) => handler.onData(chunk, started),
          onResponseEnd: () => handler.onEnd(),
          onResponseError: (_controller, error) => handler.onEnd(error),
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
