import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { randomUUID } from 'node:crypto'
import { failure } from '../response/answer-failure.ts'
import { requestId } from './receive.ts'

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
