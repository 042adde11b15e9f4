import { createServer, type RequestListener, type Server, type ServerOptions, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { InvalidSettings } from '#shared/config/setting.ts'
import { answerUnreadable, isPath, refuseTarget, refuseTunnel } from './receive.ts'

const maxHeaderBytes = 16 * 1024
const maxConnections = 4_096
const headersWithinMs = 10_000
const requestWithinMs = 30_000
const timeoutsCheckedEveryMs = 1_000
/** Longer than the 60 seconds of common load balancers, so that they and not we close an idle connection. */
const keepAliveMs = 75_000
/** Of the grace of a stop, for letting those in that wait to be accepted. */
const acceptingShare = 0.25
/** A connection may bring a request that was on its way until nothing has come for this long. */
const lingerMs = 100
const idleCheckedEveryMs = 20

/** A port that answers; disposing it finishes what is in flight. */
export interface Listener extends AsyncDisposable {
  readonly url: string
  readonly listening: boolean
}

interface ListenerOptions {
  port: number
  host: string
  /** How long answers may take after a stop was asked for. */
  graceMs: number
  /** How long a connection may stand still in the middle of an answer. */
  stalledAfterMs: number
  /** A client that takes longer to send the head of a request, or all of it, is a slow-loris or broken. */
  headersWithinMs?: number
  requestWithinMs?: number
  /** What requests and answers are made of, where not of Node's own. */
  messages?: Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>
}

/** Takes a port and hands its requests to the application. */
export const listen = async (application: RequestListener, options: ListenerOptions): Promise<Listener> => {
  const server = createServer({
    ...options.messages,
    maxHeaderSize: maxHeaderBytes,
    headersTimeout: options.headersWithinMs ?? headersWithinMs,
    requestTimeout: options.requestWithinMs ?? requestWithinMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: timeoutsCheckedEveryMs,
    // Missing, it is refused like everything else that is wrong with a request; Node's own refusal has no body.
    requireHostHeader: false,
  })
  server.maxConnections = maxConnections
  server.setTimeout(options.stalledAfterMs)
  server.on('clientError', answerUnreadable)
  server.on('connect', (_request, socket) => refuseTunnel(socket))
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
    if (isPath(request.url)) application(request, response)
    else refuseTarget(request, response)
  }
  server.on('request', answer)
  // What a client expects besides 100-continue is not known here, and may be left unmet.
  server.on('checkExpectation', answer)
  await bound(server, options)
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

const bound = async (server: Server, { port, host }: ListenerOptions): Promise<void> => {
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
  if (code === 'EADDRINUSE') return `port ${port} is taken by another process`
  return `cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : String(error)}`
}

const urlOf = (server: Server, host: string): string => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const isEverywhere = host === '0.0.0.0' || host === '::'
  return `http://${isEverywhere ? 'localhost' : host.includes(':') ? `[${host}]` : host}:${port}`
}

/** What a server has open. */
interface Open {
  sockets: ReadonlySet<Socket>
  answering: ReadonlySet<ServerResponse>
}

/**
 * Stops accepting, answers what is in flight and what still arrives on kept connections, and closes them.
 * `http.Server.close` would cut kept connections at once, and with them a request that is just arriving.
 */
const drain = async (server: Server, { sockets, answering }: Open, graceMs: number): Promise<void> => {
  const closed = Promise.withResolvers<void>()
  const cut = setTimeout(() => server.closeAllConnections(), graceMs)
  let heardMs = performance.now()
  const hear = (): void => void (heardMs = performance.now())
  for (const event of ['connection', 'request'] as const) server.on(event, hear)
  await acceptWaiting(server, graceMs * acceptingShare)
  NetServer.prototype.close.call(server, () => closed.resolve())
  const closeIdle = (): void => {
    if (performance.now() - heardMs < lingerMs) return
    // Node takes a connection for idle whose answer has ended and is still on its way to a slow reader.
    if ([...answering].some((response) => response.writableEnded)) return
    server.closeIdleConnections()
    // Browsers connect ahead of what they may ask for; Node waits for that first request.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
  }
  // Only once the sockets have been read, so that what has come by then is heard.
  const idle = setInterval(() => setImmediate(closeIdle), idleCheckedEveryMs)
  await closed.promise
  clearInterval(idle)
  clearTimeout(cut)
  // Now only ends the checks for slow clients.
  server.close()
}

/** The kernel resets connections that nobody has accepted when a port is closed, so those that wait are let in before. */
const acceptWaiting = async (server: Server, withinMs: number): Promise<void> => {
  const until = performance.now() + withinMs
  let hasKnocked = true
  const knock = (): void => void (hasKnocked = true)
  server.on('connection', knock)
  while (hasKnocked && performance.now() < until) {
    hasKnocked = false
    // A turn of the event loop accepts one at least, if one waits; the first may have begun already.
    await turn()
    await turn()
  }
  server.off('connection', knock)
}
