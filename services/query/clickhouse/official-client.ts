import { Agent, type ClientRequest } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { type Duplex, Readable } from 'node:stream'
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client'
import { trustedConnector } from '#shared/net/connect.ts'
import { userAgent } from '#shared/sql/own-statements.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import type { PoolSettings } from './limits.ts'
import type { HostClient, HostRequest, Reading, Sent } from './reading.ts'
import { boundParameters, settingsOf } from './statement.ts'
import { idleConnectionMs } from './undici-pool.ts'

/** The official client of one host. It makes connections and requests; time, size and errors of an answer are bounded here. */
export const openOfficialClient = (host: MonitoredHost, { idleMs }: Pick<PoolSettings, 'idleMs'>): HostClient => {
  const client = createClient({
    url: host.url.origin,
    pathname: host.url.pathname,
    username: host.user,
    password: host.password,
    http_agent: openAgent(host, idleMs),
    http_headers: { 'content-type': 'text/plain' },
    // Our agent closes what is idle, at the time that the host announces; the client would take one time for all.
    keep_alive: { idle_socket_ttl: 0 },
    // Time is bounded by the caller's signal, once, for all parts of an exchange.
    request_timeout: 0,
    // Whatever goes wrong becomes an error here; its own lines may hold addresses.
    log: { level: ClickHouseLogLevel.OFF },
  })
  const running = new Set<Sent>()
  let isClosing = false
  const closeUnused = (): void => {
    if (isClosing && running.size === 0) void client.close()
  }

  return {
    send(request, reading) {
      const params = paramsOf(request, host.url.searchParams)
      const sent = listen(
        (signal) => client.exec({ ...params, abort_signal: signal }),
        reading,
        () => {
          running.delete(sent)
          closeUnused()
        },
      )
      running.add(sent)
      return sent
    },
    get running() {
      return running.size
    },
    close() {
      isClosing = true
      closeUnused()
    },
    async destroy() {
      // An error of the closed connection would have what only reads sent once more.
      for (const sent of running) sent.abort(new Error('the client was closed'))
      await client.close()
    },
  }
}

/** Begins a request and hands on what comes. `closed` is called once, when its connection is free or closed. */
const listen = (
  begin: (signal: AbortSignal) => ReturnType<ClickHouseClient['exec']>,
  reading: Reading,
  closed: () => void,
): Sent => {
  const controller = new AbortController()
  const { signal } = controller
  let stream: Readable | undefined
  begin(signal).then(
    ({ stream: body, http_status_code: statusCode = 0, response_headers: headers }) => {
      stream = body
      body.on('data', (chunk: Buffer) => reading.came(chunk, body))
      body.on('end', () => reading.ended())
      body.on('error', reading.ended)
      body.on('close', () => {
        // The only event of an answer that was left on our side.
        reading.ended(new Error('the connection was closed'))
        closed()
      })
      // From here on the client no longer heeds the signal.
      if (signal.aborted) body.destroy()
      else reading.begun(statusCode, headers)
    },
    (error: Error) => {
      reading.ended(error)
      closed()
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

/** Answers of every status come as they are, since their errors are read here. */
const paramsOf = ({ statement, queryId, sending }: HostRequest, ofUrl: URLSearchParams) => {
  const { sql, database, session } = statement
  return {
    // As the body and as it is: the client would trim it, and move the positions that errors name.
    query: '',
    values: Readable.from([sql]),
    http_headers: { 'content-length': String(Buffer.byteLength(sql)) },
    query_id: queryId,
    ignore_error_response: true,
    decompress_response_stream: false,
    clickhouse_settings: {
      ...Object.fromEntries([...ofUrl].filter(([name]) => name !== 'role')),
      default_format: sending.format,
      // As a setting, for the client leaves out a database that is called `default`.
      ...(database !== undefined && { database }),
      ...settingsOf(statement, sending),
      // Not as `query_params`, which escape quotes: an array that a caller wrote as text would be none.
      ...boundParameters(statement),
    },
    // The only parameter of an address that may stand there several times.
    role: ofUrl.getAll('role'),
    ...(session !== undefined && { session_id: session }),
  }
}

/** Node calls `addRequest` of every agent for every request; its types leave it out. */
interface RequestAgent extends Agent {
  addRequest(request: ClientRequest, options: object): void
}

/**
 * Makes connections as the host's connector does, through the guard where somebody brought the host. Idle ones are kept as the pool
 * for hot statements keeps them.
 */
const openAgent = ({ url, connect = trustedConnector() }: MonitoredHost, maxIdleMs: number): Agent => {
  const { protocol, host, port } = url
  const hostname = url.hostname.replace(/^\[|\]$/g, '')
  // The method is there on every agent of Node.
  const agent = new (protocol === 'https:' ? TlsAgent : Agent)({ keepAlive: true }) as RequestAgent
  agent.createConnection = (_options, connected) => {
    // Beside an error Node looks at no socket.
    connect({ protocol, host, hostname, port }, (error, socket) => connected?.(error, socket as Socket))
    return undefined
  }
  const idleMs = new WeakMap<Duplex, number>()
  const addRequest = agent.addRequest.bind(agent)
  agent.addRequest = (request, options) => {
    // Hosts know the product's statements by this name; the client would add its own name and version.
    request.setHeader('user-agent', userAgent)
    request.once('response', ({ headers, socket }) => {
      idleMs.set(socket, Math.min(announcedIdleMs(String(headers['keep-alive'])), maxIdleMs))
    })
    addRequest(request, options)
  }
  const keepSocketAlive = agent.keepSocketAlive.bind(agent)
  agent.keepSocketAlive = (socket) => {
    keepSocketAlive(socket)
    const ms = idleMs.get(socket) ?? 0
    // As every connector makes them. The agent closes an idle one whose time is over.
    if (ms > 0) (socket as Socket).setTimeout(ms)
    return ms > 0
  }
  return agent
}

/** A connection that the host may close at any moment is not used: what writes is not sent a second time. */
const idleMarginMs = 2_000

/** How long a connection can be used again, by the header of an answer, if there was one. */
const announcedIdleMs = (header: string): number => {
  const [, seconds] = /timeout=(\d+)/i.exec(header) ?? []
  return seconds === undefined ? idleConnectionMs : Number(seconds) * 1_000 - idleMarginMs
}
