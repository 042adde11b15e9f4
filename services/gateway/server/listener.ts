import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { InvalidSettings } from '#shared/config/setting.ts'
import { rejectMalformedRequest, isPathTarget, rejectInvalidTarget, rejectConnect } from './receive.ts'

const maxHeaderBytes = 16 * 1024
const maxConnections = 4_096
const headersWithinMs = 10_000
const requestWithinMs = 30_000
const timeoutsCheckedEveryMs = 1_000
/** Longer than the 60 seconds of common load balancers, so that they close idle connections first. */
const keepAliveMs = 75_000
/** Share of the grace period for accepting pending connections. */
const acceptingShare = 0.25
/** While draining, idle connections are closed once no connection or request has arrived for this long. */
const lingerMs = 100
const idleCheckedEveryMs = 20

/** A listening server; disposing it drains requests in flight. */
export interface Listener extends AsyncDisposable {
  readonly url: string
  readonly listening: boolean
}

interface ListenerOptions {
  port: number
  host: string
  /** Time for draining requests after a stop. */
  graceMs: number
  /** Timeout of a connection without traffic, such as a client that stops reading a response. */
  stalledAfterMs: number
  /** Maximum time for receiving the headers. Slower clients are faulty, or part of a Slowloris attack. */
  headersWithinMs?: number
  requestWithinMs?: number
  /** Request and response classes; those of Node by default. */
  messages?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
}

/** Listens on a port and passes requests to the application; throws `InvalidSettings` if the port is not available. */
export const startListener = async (application: RequestListener, options: ListenerOptions): Promise<Listener> => {
  const server = createServer({
    ...options.messages,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: options.headersWithinMs ?? headersWithinMs,
    requestTimeout: options.requestWithinMs ?? requestWithinMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: timeoutsCheckedEveryMs,
    // The application rejects a missing Host header, because the rejection of Node has no body.
    requireHostHeader: false,
  })
  server.maxConnections = maxConnections
  server.setTimeout(options.stalledAfterMs)
  server.on('clientError', rejectMalformedRequest)
  server.on('connect', (_request, socket) => rejectConnect(socket))
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const answering = new Set<ServerResponse>()
  let isStopping = false
  const answer: RequestListener = (request, response) => {
    if (isStopping) response.setHeader('Connection', 'close')
    answering.add(response)
    response.once('close', () => answering.delete(response))
    if (isPathTarget(request.url)) application(request, response)
    else rejectInvalidTarget(request, response)
  }
  server.on('request', answer)
  // Other expectations than 100-continue are ignored, as HTTP allows.
  server.on('checkExpectation', answer)
  await bindServer(server, options)
  return {
    url: urlOf(server, options.host),
    get listening() {
      return server.listening && !isStopping
    },
    [Symbol.asyncDispose]: async () => {
      isStopping = true
      for (const response of answering) if (!response.headersSent) response.setHeader('Connection', 'close')
      await drain(server, { sockets, answering }, options.graceMs)
    },
  }
}

const bindServer = async (server: Server, { port, host }: ListenerOptions): Promise<void> => {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  try {
    await promise
  } catch (error) {
    throw new InvalidSettings([{ name: 'PORT', sentence: sentenceOf(error, host, port) }])
  }
  server.off('error', reject)
}

const sentenceOf = (error: unknown, host: string, port: number): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') return `port ${port} is already in use by another process`
  return `cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`
}

const urlOf = (server: Server, host: string): string => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const isAnyAddress = host === '0.0.0.0' || host === '::'
  return `http://${isAnyAddress ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Open connections of a server, and responses that are not sent completely. */
interface OpenWork {
  sockets: ReadonlySet<Socket>
  answering: ReadonlySet<ServerResponse>
}

/**
 * Stops accepting connections, serves requests in flight and those that still arrive on keep-alive connections, then
 * closes them. `http.Server.close` closes keep-alive connections at once, and with them a request that is arriving.
 */
const drain = async (server: Server, { sockets, answering }: OpenWork, graceMs: number): Promise<void> => {
  const closed = Promise.withResolvers<void>()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  let lastActivityMs = performance.now()
  const noteActivity = (): void => void (lastActivityMs = performance.now())
  for (const event of ['connection', 'request'] as const) server.on(event, noteActivity)
  await acceptPending(server, graceMs * acceptingShare)
  NetServer.prototype.close.call(server, () => closed.resolve())
  const closeIdle = (): void => {
    if (performance.now() - lastActivityMs < lingerMs) return
    // Node considers a connection idle once its response has ended, even if a slow client still receives it.
    if ([...answering].some((response) => response.writableEnded)) return
    server.closeIdleConnections()
    // Browsers preconnect; Node would wait for the first request of such a connection.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  // `setImmediate` runs after the poll phase, so that requests that have already arrived count as activity.
  const idle = setInterval(() => setImmediate(closeIdle), idleCheckedEveryMs)
  await closed.promise
  clearInterval(idle)
  clearTimeout(cut)
  // All connections are closed; this only stops the timeout checks.
  server.close()
}

/** Accepts pending connections, which the kernel resets when the port is closed. */
const acceptPending = async (server: Server, withinMs: number): Promise<void> => {
  const until = performance.now() + withinMs
  let hasConnected = true
  const noteConnection = (): void => void (hasConnected = true)
  server.on('connection', noteConnection)
  while (hasConnected && performance.now() < until) {
    hasConnected = false
    // Each iteration of the event loop accepts at least one pending connection; the current one may be past that phase.
    await turn()
    await turn()
  }
  server.off('connection', noteConnection)
}
