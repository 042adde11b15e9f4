import { randomUUID } from 'node:crypto'
import { ServiceError } from '#proto/errors.ts'
import { createQueryId } from '#shared/sql/statement-text.ts'
import type { MonitoredHost } from '../hosts/host-list.ts'
import { maxBufferedResponseBytes, maxShortResponseBytes, readErrorBody } from './response.ts'
import type { HostConnections } from './connections.ts'
import {
  findClickhouseErrorCode,
  toConnectionError,
  createHostError,
  createKeeperTimeoutError,
  toResponseError,
} from './failure.ts'
import type { HostBody } from './host-body.ts'
import { BodyTooLargeError, type HostRequest, isConnectionReset, type StreamedResponse } from './host-response.ts'
import type { PoolSettings } from './limits.ts'
import type { TimeLimit } from './time-limit.ts'
import type { SendingOptions, Statement } from './statement.ts'

interface ExchangeOptions extends SendingOptions {
  pool: PoolSettings
  limit: TimeLimit
  reserved?: boolean
  /** Called whenever data from the host arrives. */
  onActivity?: () => void
}

/** A response whose head has arrived. Reading `body` throws `ServiceError`s only. */
export interface StatementResponse extends Pick<StreamedResponse, 'headers' | 'body'> {
  queryId: string
}

/** The buffered response of a host. */
export interface BufferedStatementResponse {
  queryId: string
  text: string
}

type OnSent = (queryId: string) => void

const noop = (): void => undefined

/** Sends a statement and waits for the head of a successful response. Every failure is a `ServiceError`. */
export const sendStatement = async (
  connections: HostConnections,
  host: MonitoredHost,
  statement: Statement,
  options: ExchangeOptions,
  onSent: OnSent,
): Promise<StatementResponse> => {
  const requestOptions = { ...requestOptionsOf(options), onActivity: options.onActivity ?? noop }
  const { queryId, response } = await sendWithRetry(host, statement, options, onSent, (request) =>
    connections.stream(host, request, requestOptions),
  )
  const body = translatedBody(host, response.body, options.limit)
  if (response.statusCode !== 200)
    throw toRejectionError(host, statement, response.statusCode, await readErrorBody(body))
  return { queryId, headers: response.headers, body }
}

/** Sends a statement and waits for the complete successful response. Every failure is a `ServiceError`. */
export const sendBufferedStatement = async (
  connections: HostConnections,
  host: MonitoredHost,
  statement: Statement,
  options: ExchangeOptions,
  onSent: OnSent,
): Promise<BufferedStatementResponse> => {
  let hasStarted = false
  const onActivity = (): void => {
    hasStarted = true
    options.onActivity?.()
  }
  const maxBytes = statement.short ? maxShortResponseBytes : maxBufferedResponseBytes
  const requestOptions = { ...requestOptionsOf(options), onActivity, maxBytes, reserved: options.reserved ?? false }
  const { queryId, response } = await sendWithRetry(
    host,
    statement,
    options,
    onSent,
    (request) => connections.buffer(host, request, requestOptions),
    () => hasStarted,
  )
  const text = response.body.toString('utf8')
  if (response.statusCode !== 200) throw toRejectionError(host, statement, response.statusCode, text)
  return { queryId, text }
}

const requestOptionsOf = ({ limit, pool }: ExchangeOptions) => ({ signal: limit.signal, pool })

const timeExceeded = 159

/** Returns the error for a rejected statement. If it timed out while reading from Keeper, the error names Keeper. */
const toRejectionError = (
  host: MonitoredHost,
  { readsKeeper }: Statement,
  status: number,
  text: string,
): ServiceError => {
  const failure = toResponseError(host, status, text)
  return readsKeeper && findClickhouseErrorCode(failure) === timeExceeded ? createKeeperTimeoutError(host) : failure
}

/** Resends a read-only statement once, on a new connection, when the host closed the first before it responded. */
const sendWithRetry = async <T>(
  host: MonitoredHost,
  statement: Statement,
  options: ExchangeOptions,
  onSent: OnSent,
  send: (request: HostRequest) => Promise<T>,
  hasStarted: () => boolean = () => false,
): Promise<{ queryId: string; response: T }> => {
  const { limit } = options
  for (let isFirst = true; ; isFirst = false) {
    // The host may still run the first request, so the second one has another id.
    const queryId = createQueryId(statement.what, (isFirst && statement.id) || randomUUID())
    onSent(queryId)
    try {
      return { queryId, response: await send({ statement, queryId, sending: options, newConnection: !isFirst }) }
    } catch (error) {
      const mayHaveRun = statement.writes || hasStarted() || limit.signal.aborted
      if (statement.short && error instanceof BodyTooLargeError) throw createHostError(host, 'garbage', error)
      if (!isFirst || !isConnectionReset(error) || mayHaveRun) throw translateError(host, error, limit)
    }
  }
}

const translatedBody = (host: MonitoredHost, { take, leave }: HostBody, limit: TimeLimit): HostBody => ({
  leave,
  async take(left) {
    try {
      return await take(left)
    } catch (error) {
      throw translateError(host, error, limit)
    }
  },
})

const translateError = (host: MonitoredHost, error: unknown, limit: TimeLimit): unknown => {
  if (limit.signal.aborted) return limit.signal.reason
  if (error instanceof ServiceError) return error
  if (error instanceof BodyTooLargeError)
    return new ServiceError(
      'too-large',
      `host ${host.name} sent more than ${maxBufferedResponseBytes} bytes; request fewer rows`,
    )
  return toConnectionError(host, error)
}
