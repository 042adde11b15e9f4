import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RequestHandler, Response } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { failure } from '../response/answer-failure.ts'
import { clientClosedStatus, HttpError, beginExchange, type Exchange } from '../response/http-exchange.ts'
import type { HeaderLines, SecurityHeaders } from './security-headers.ts'

/** Longest path that a log line quotes. */
const loggedPathLength = 200

/** First of the application to see a request and last to see its answer: id, headers, metrics, one log line. */
export const receive = ({ log, metrics: registry }: Telemetry, headers: SecurityHeaders): RequestHandler => {
  const duration = metrics.httpRequestDuration(registry)
  const finished = (method: string, path: string, response: Response, exchange: Exchange): void => {
    const tookMs = performance.now() - exchange.startedAtMs
    const status = response.writableFinished ? response.statusCode : clientClosedStatus
    duration.observe({ route: exchange.route, method, status }, tookMs / 1000)
    if (!log.isLevelEnabled('debug')) return
    const { requestId, route } = exchange
    log.debug({ requestId, method, route, path, status, tookMs }, 'request answered')
  }

  return (request, response, next) => {
    const startedAtMs = performance.now()
    const id = requestId(request.headers['x-request-id'])
    const path = pathOf(request.url)
    const isApi = /^\/api(\/|$)/i.test(path)
    const exchange: Exchange = { requestId: id, route: isApi ? 'unknown' : 'web', startedAtMs }
    beginExchange(response, exchange)
    response.setHeader('X-Request-Id', id)
    setAll(response, isApi ? headers.api : headers.page)
    response.once('close', () => finished(request.method, path.slice(0, loggedPathLength), response, exchange))
    requireSound(request)
    next()
  }
}

/** The path of a request target, without its query; the listener lets no target in that anything reads as another path. */
export const pathOf = (url: string): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Sets headers that are the same for every answer of their kind. */
export const setAll = (response: Response, lines: HeaderLines): void => {
  for (const [name, value] of lines) response.setHeader(name, value)
}

/** What a proxy in front may have given: nothing that could forge a log line or a header. */
const sane = /^[\w.:-]{1,64}$/

/** The id that a proxy gave the request, or a new one. */
export const requestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && sane.test(given) ? given : randomUUID()

/** More than browsers and the proxies behind them send; Node itself would drop what it thinks too many and say nothing. */
const maxHeaderFields = 100
/** Fields that mean two things to two readers when they are given twice. */
const givenOnce = ['host', 'authorization']

/** Refuses requests that HTTP's grammar lets through and that no honest client sends. */
const requireSound = ({ rawHeaders, headers, httpVersionMinor }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw new ServiceError('invalid', 'the Host header is missing')
  if (rawHeaders.length / 2 > maxHeaderFields) {
    throw new HttpError(431, 'too-large', `more than ${maxHeaderFields} header fields`)
  }
  for (const name of givenOnce) {
    if (timesGiven(name, rawHeaders) > 1) throw new ServiceError('invalid', `the header ${name} may be given only once`)
  }
}

const timesGiven = (name: string, rawHeaders: readonly string[]): number => {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const given = rawHeaders[at]
    if (given?.length === name.length && given.toLowerCase() === name) times += 1
  }
  return times
}

interface Unreadable {
  status: number
  reason: string
  type: string
  message: string
}

const malformed: Unreadable = {
  status: 400,
  reason: 'Bad Request',
  type: 'invalid',
  message: 'this is no request that HTTP/1.1 allows',
}

/** What Node's parser refuses, by its error codes. */
const unreadable: Readonly<Record<string, Unreadable>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    type: 'too-large',
    message: 'the path and headers are too large',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    type: 'timeout',
    message: 'the request did not arrive in time',
  },
}

/** Answers a request that never became one, in the shape of every error, and hangs up. */
export const answerUnreadable = (error: Error & { code?: string }, socket: Duplex): void => {
  // On a connection that was answered before, these bytes might land inside another answer.
  if (!socket.writable || error.code === 'ECONNRESET' || hasAnswered(socket)) {
    socket.destroy()
    return
  }
  hangUp(socket, unreadable[error.code ?? ''] ?? malformed)
}

/** Answers who takes this for a proxy, on a connection that Node's server has let go of. */
export const refuseTunnel = (socket: Duplex): void => {
  socket.once('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  hangUp(socket, { ...malformed, message: 'CONNECT is for proxies, and this is none' })
}

/** Whether every reader takes the target of a request for the same path: it is no absolute URL and has no fragment. */
export const isPath = (target = ''): boolean => /^\/[^#]*$/.test(target)

/** Answers a request whose target is not one path, before anything decides by it. */
export const refuseTarget = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  const id = requestId(headers['x-request-id'])
  const message = 'the request target must be a path without a fragment; this is no proxy'
  const body = JSON.stringify(failure({ ...malformed, message }, id))
  const own = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Request-Id': id }
  response.writeHead(malformed.status, { ...own, Connection: 'close' }).end(body)
}

const hangUp = (socket: Duplex, { status, reason, ...visible }: Unreadable): void => {
  const body = JSON.stringify(failure({ status, ...visible }, randomUUID()))
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
}

const hasAnswered = (socket: Duplex): boolean => 'bytesWritten' in socket && socket.bytesWritten !== 0
