import { Agent, type ClientRequest } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { createUnguardedConnector } from '#shared/net/connect.ts'
import { userAgent } from '#shared/sql/statement-text.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { HostClient, HostRequest, PendingRequest, ResponseHandler } from './host-response.ts'
import type { PoolSettings } from './limits.ts'
import { encodeParameters, buildRequestSettings, traceHeaders } from './statement.ts'
import { defaultKeepAliveMs } from './undici-pool.ts'

/** Opens the official client for one host. Timeouts, size limits and errors are handled here, not by the client. */
export const openOfficialClient = (host: MonitoredHost, { idleMs }: Pick<PoolSettings, 'idleMs'>): HostClient => {
  const client = createClient({
    url: host.url.origin,
    pathname: host.url.pathname,
    username: host.user,
    password: host.password,
    http_agent: openAgent(host, idleMs),
    http_headers: { 'content-type': 'text/plain' },
    // The agent closes idle sockets at the time that the host announces; the client supports only one fixed time.
    keep_alive: { idle_socket_ttl: 0 },
    // The signal of the caller limits the time of the whole exchange.
    request_timeout: 0,
    // Disabled, because log lines of the client may contain addresses. Every failure is reported as an error.
    log: { level: ClickHouseLogLevel.OFF },
  })
  const running = new Set<PendingRequest>()
  let isClosing = false
  const closeUnused = (): void => {
    if (isClosing && running.size === 0) void client.close()
  }

  return {
    send(request, handler) {
      const params = paramsOf(request, host.url.searchParams)
      const pending = startRequest(
        (signal) => client.exec({ ...params, abort_signal: signal }),
        handler,
        () => {
          running.delete(pending)
          closeUnused()
        },
      )
      running.add(pending)
      return pending
    },
    get running() {
      return running.size
    },
    close() {
      isClosing = true
      closeUnused()
    },
    async destroy() {
      // The error of a closed connection would cause a retry of read-only statements.
      for (const pending of running) pending.abort(new Error('the client was closed'))
      await client.close()
    },
  }
}

/** Starts a request and forwards its response. `onClosed` is called once, when its connection is free or closed. */
const startRequest = (
  start: (signal: AbortSignal) => ReturnType<ClickHouseClient['exec']>,
  handler: ResponseHandler,
  onClosed: () => void,
): PendingRequest => {
  const controller = new AbortController()
  const { signal } = controller
  let stream: Readable | undefined
  start(signal).then(
    ({ stream: body, http_status_code: statusCode = 0, response_headers: headers }) => {
      stream = body
      body.on('data', (chunk: Buffer) => handler.onData(chunk, body))
      body.on('end', () => handler.onEnd())
      body.on('error', handler.onEnd)
      body.on('close', () => {
        // After a call of `abort`, `close` is the only event.
        handler.onEnd(new Error('the connection was closed'))
        onClosed()
      })
      // The client ignores the signal once the response head has arrived.
      if (signal.aborted) body.destroy()
      else handler.onHead(statusCode, headers)
    },
    (error: Error) => {
      handler.onEnd(error)
      onClosed()
    },
  )
  return {
    abort(reason) {
      controller.abort(reason)
      stream?.destroy()
    },
    resume: () => void stream?.resume(),
  }
}

/** Returns parameters that make the client return every response unchanged, because errors are parsed here. */
const paramsOf = ({ statement, queryId, sending }: HostRequest, ofUrl: URLSearchParams) => {
  const { sql, database, session } = statement
  return {
    // The SQL is sent as a stream, because the client would trim it and shift the positions in errors.
    query: '',
    values: Readable.from([sql]),
    http_headers: { 'content-length': String(Buffer.byteLength(sql)), ...traceHeaders(sending) },
    query_id: queryId,
    ignore_error_response: true,
    decompress_response_stream: false,
    clickhouse_settings: {
      ...Object.fromEntries([...ofUrl].filter(([name]) => name !== 'role')),
      default_format: sending.format,
      // Sent as a setting, because the client omits a database named `default`.
      ...(database !== undefined && { database }),
      ...buildRequestSettings(statement, sending),
      // Not sent as `query_params`, which escape quotes and so break arrays that are written as text.
      ...encodeParameters(statement),
    },
    // `role` is the only URL parameter that may occur several times.
    role: ofUrl.getAll('role'),
    ...(session !== undefined && { session_id: session }),
  }
}

/** Node calls the method `addRequest` of the agent for every request. The type `Agent` does not declare it. */
interface RequestAgent extends Agent {
  addRequest(request: ClientRequest, options: object): void
}

/**
 * Opens an agent that dials with the connector of the host, which is guarded for user connections. Idle sockets live as
 * long as in the pool for hot statements.
 */
const openAgent = ({ url, connect = createUnguardedConnector() }: MonitoredHost, maxIdleMs: number): Agent => {
  const { protocol, host, port } = url
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  // The cast is safe, because every Node agent has the method `addRequest`.
  const agent = new (protocol === 'https:' ? TlsAgent : Agent)({ keepAlive: true }) as RequestAgent
  agent.createConnection = (_options, connected) => {
    // Node ignores the socket when there is an error.
    connect({ protocol, host, hostname, port }, (error, socket) => connected?.(error, socket as Socket))
    return undefined
  }
  const idleMs = new WeakMap<Duplex, number>()
  const addRequest = agent.addRequest.bind(agent)
  agent.addRequest = (request, options) => {
    // Watchhouse recognizes its own statements by this user agent; the client would add its name and version.
    request.setHeader('user-agent', userAgent)
    request.once('response', ({ headers, socket }) => {
      idleMs.set(socket, Math.min(parseKeepAliveMs(String(headers['keep-alive'])), maxIdleMs))
    })
    addRequest(request, options)
  }
  const keepSocketAlive = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => {
    keepSocketAlive(socket)
    const ms = idleMs.get(socket) ?? 0
    // Every connector creates a `Socket`. The agent closes it when the idle timeout fires.
    if (ms > 0) (socket as Socket).setTimeout(ms)
    return ms > 0
  }
  return agent
}

/** A connection that the host is about to close is not reused, because statements that write are not retried. */
const idleMarginMs = 2_000

/** Returns how long a connection can be reused, according to the `keep-alive` header of a response. */
const parseKeepAliveMs = (header: string): number => {
  const [, seconds] = /timeout=(\d+)/i.exec(header) ?? []
  return seconds === undefined ? defaultKeepAliveMs : Number(seconds) * 1_000 - idleMarginMs
}
