import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RequestHandler, Response } from 'express'
import { ServiceError } from '#proto/errors.ts'
import { metrics } from '#shared/telemetry/metrics.ts'
import type { Telemetry } from '#shared/telemetry/telemetry.ts'
import { createErrorBody } from '../response/error-response.ts'
import { clientClosedStatus, HttpError, attachExchange, type HttpExchange } from '../response/http-exchange.ts'
import type { HeaderLines, SecurityHeaders } from './security-headers.ts'

/** Paths are cut to this length in the log. */
const maxLoggedPath = 200

/** Returns the first middleware, which sets the id and headers of a response and records its metrics and log line. */
export const observeRequests = ({ log, metrics: registry }: Telemetry, headers: SecurityHeaders): RequestHandler => {
  const duration = metrics.httpRequestDuration(registry)
  const finished = (method: string, path: string, response: Response, exchange: HttpExchange): void => {
    const tookMs = performance.now() - exchange.startedAtMs
    const status = response.writableFinished ? response.statusCode : clientClosedStatus
    duration.observe({ route: exchange.route, method, status }, tookMs / 1000)
    if (!log.isLevelEnabled('debug')) return
    const { requestId, route } = exchange
    log.debug({ requestId, method, route, path, status, tookMs }, 'request answered')
  }

  return (request, response, next) => {
    const startedAtMs = performance.now()
    const id = resolveRequestId(request.headers['x-request-id'])
    const path = getRequestPath(request.url)
    const isApi = /^\/api(\/|$)/i.test(path)
    const exchange: HttpExchange = { requestId: id, route: isApi ? 'unknown' : 'web', startedAtMs }
    attachExchange(response, exchange)
    response.setHeader('X-Request-Id', id)
    setFixedHeaders(response, isApi ? headers.api : headers.page)
    response.once('close', () => finished(request.method, path.slice(0, maxLoggedPath), response, exchange))
    requireWellFormed(request)
    next()
  }
}

/** Returns the path of a request target without its query; the listener has rejected ambiguous targets. */
export const getRequestPath = (url: string): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** Sets fixed headers. */
export const setFixedHeaders = (response: Response, lines: HeaderLines): void => {
  for (const [name, value] of lines) response.setHeader(name, value)
}

/** Format of accepted request ids. Other characters could forge log lines or headers. */
const requestIdShape = /^[\w.:-]{1,64}$/

/** Returns the request id of a proxy if it is valid, or a new one. */
export const resolveRequestId = (header: string | string[] | undefined): string =>
  typeof header === 'string' && requestIdShape.test(header) ? header : randomUUID()

/** Maximum number of header fields, more than browsers and proxies send. Node would silently drop further ones. */
const maxHeaderFields = 100
/** Headers that are ambiguous if they are repeated. */
const uniqueHeaders = ['host', 'authorization']

/** Throws `invalid` for requests that are valid HTTP but that no legitimate client sends. */
const requireWellFormed = ({ rawHeaders, headers, httpVersionMinor }: IncomingMessage): void => {
  if (headers.host === undefined && httpVersionMinor > 0)
    throw new ServiceError('invalid', 'the Host header is missing')
  if (rawHeaders.length / 2 > maxHeaderFields) {
    throw new HttpError(431, 'too-large', `too many header fields: the maximum is ${maxHeaderFields}`)
  }
  for (const name of uniqueHeaders) {
    if (occurrencesOf(name, rawHeaders) > 1)
      throw new ServiceError('invalid', `header "${name}" must be sent only once`)
  }
}

const occurrencesOf = (name: string, rawHeaders: readonly string[]): number => {
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at]
    if (header?.length === name.length && header.toLowerCase() === name) times += 1
  }
  return times
}

interface ParseError {
  status: number
  reason: string
  type: string
  message: string
}

const malformedRequest: ParseError = {
  status: 400,
  reason: 'Bad Request',
  type: 'invalid',
  message: 'invalid HTTP/1.1 request',
}

/** Responses to errors of Node's HTTP parser, by error code. */
const parseErrors: Readonly<Record<string, ParseError>> = {
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

/** Sends an error response for a request that cannot be parsed, and closes the connection. */
export const rejectMalformedRequest = (error: Error & { code?: string }, socket: Duplex): void => {
  // If this socket has already carried a response, clients could read the error as part of it.
  if (!socket.writable || error.code === 'ECONNRESET' || hasAnswered(socket)) {
    socket.destroy()
    return
  }
  hangUp(socket, parseErrors[error.code ?? ''] ?? malformedRequest)
}

/** Rejects CONNECT on a socket that the HTTP server has detached. */
export const rejectConnect = (socket: Duplex): void => {
  socket.once('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  hangUp(socket, { ...malformedRequest, message: 'CONNECT is not supported; this server is not a proxy' })
}

/** Returns true if the request target is an unambiguous path: no absolute URL and no fragment. */
export const isPathTarget = (target = ''): boolean => /^\/[^#]*$/.test(target)

/** Rejects a request whose target is not a path, before anything uses the target. */
export const rejectInvalidTarget = ({ headers }: IncomingMessage, response: ServerResponse): void => {
  const id = resolveRequestId(headers['x-request-id'])
  const message = 'the request target must be a path without a fragment; proxy requests are not supported'
  const body = JSON.stringify(createErrorBody({ ...malformedRequest, message }, id))
  const own = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'X-Request-Id': id }
  response.writeHead(malformedRequest.status, { ...own, Connection: 'close' }).end(body)
}

const hangUp = (socket: Duplex, { status, reason, ...visible }: ParseError): void => {
  const body = JSON.stringify(createErrorBody({ status, ...visible }, randomUUID()))
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `Connection: close\r\n\r\n${body}`,
  )
}

const hasAnswered = (socket: Duplex): boolean => 'bytesWritten' in socket && socket.bytesWritten !== 0
