import { randomUUID } from 'node:crypto'
import type { Dispatcher } from 'undici'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { readFailure } from './answer.ts'
import type { Connections, PoolSettings } from './connections.ts'
import { answerFailure, connectionFailure } from './failure.ts'
import { requestPath, type Sending, type Statement } from './statement.ts'
import type { TimeLimit } from './time-limit.ts'

/** What one exchange with a host needs to know besides the statement. */
export interface Terms extends Omit<Sending, 'queryId'> {
  pool: PoolSettings
  limit: TimeLimit
  reserved?: boolean
  /** Called with everything that comes. */
  heard?: () => void
}

/** A host that has begun to answer. `body` fails with a `ServiceError`. */
export interface Exchange {
  queryId: string
  headers: Dispatcher.ResponseData['headers']
  body: AsyncIterable<Buffer>
}

/** Sends a statement and waits for the head of a good answer. Every failure is a `ServiceError`. */
export const exchange = async (
  connections: Connections,
  host: MonitoredHost,
  statement: Statement,
  terms: Terms,
  sent: (queryId: string) => void,
): Promise<Exchange> => {
  const attempt = async () => {
    const queryId = randomUUID()
    sent(queryId)
    const path = requestPath(host.url, statement, { ...terms, queryId })
    const { reserved = false } = terms
    const request = { path, body: statement.sql, signal: terms.limit.signal, reserved }
    return { queryId, response: await connections.send(host, request, terms.pool) }
  }
  const { queryId, response } = await attempt()
    .catch((error: unknown) => {
      // A kept connection that the host has closed meanwhile fails before any answer; every statement here only reads.
      if (isReset(error) && !terms.limit.signal.aborted) return attempt()
      throw error
    })
    .catch((error: unknown) => {
      throw translated(host, error, terms.limit)
    })
  const body = translatedBody(host, response.body, terms)
  if (response.statusCode !== 200) throw answerFailure(host, response.statusCode, await readFailure(body))
  return { queryId, headers: response.headers, body }
}

const isReset = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'UND_ERR_SOCKET' || error.code === 'ECONNRESET' || error.code === 'EPIPE')

async function* translatedBody(
  host: MonitoredHost,
  body: AsyncIterable<Buffer>,
  { limit, heard }: Terms,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) {
      heard?.()
      yield chunk
    }
  } catch (error) {
    throw translated(host, error, limit)
  }
}

const translated = (host: MonitoredHost, error: unknown, limit: TimeLimit): unknown => {
  if (limit.signal.aborted) return limit.signal.reason
  return connectionFailure(host, error)
}
