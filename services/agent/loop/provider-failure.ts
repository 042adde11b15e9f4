import { APIConnectionError, APIConnectionTimeoutError, APIError } from 'openai'
import type { AgentErrorCode } from '#proto/agent-parts.ts'
import { NetFailure } from '#shared/net/failure.ts'
import { readRetryAfter } from '#shared/net/retry-after.ts'
import { AnswerFailure } from './answer-failure.ts'

const failureByStatus: Readonly<Record<number, AgentErrorCode>> = {
  400: 'provider-refused',
  401: 'provider-key-refused',
  402: 'provider-out-of-credit',
  403: 'provider-key-refused',
  404: 'model-not-found',
  408: 'provider-timeout',
  413: 'context-too-long',
  429: 'provider-rate-limited',
  504: 'provider-timeout',
}

/**
 * Returns the failure for an error of a model request; undefined for other errors. `hasStarted` is true if the gateway
 * has already sent chunks.
 */
export const toProviderFailure = (error: unknown, hasStarted: boolean): AnswerFailure | undefined => {
  const found = getFailureCode(error)
  if (found === undefined) return undefined
  const code = hasStarted && found === 'provider-unreachable' ? 'provider-cut-off' : found
  const retryAfterMs = error instanceof APIError ? parseRetryDelay(error) : null
  return new AnswerFailure(code, { retryAfterMs, cause: error })
}

/** Returns whether the gateway rejected a request with a 4xx status, so that it did not run the model. */
export const isGatewayRejection = (error: unknown): boolean =>
  error instanceof APIError && error.status !== undefined && error.status >= 400 && error.status < 500

const getFailureCode = (error: unknown): AgentErrorCode | undefined => {
  if (error instanceof APIConnectionTimeoutError) return 'provider-timeout'
  if (error instanceof NetFailure) return error.reason === 'timeout' ? 'provider-timeout' : 'provider-unreachable'
  if (error instanceof APIConnectionError) {
    return error.cause instanceof NetFailure ? getFailureCode(error.cause) : 'provider-unreachable'
  }
  if (error instanceof APIError) return getResponseFailureCode(error)
  return undefined
}

/**
 * Returns the failure for an error response. Within a stream, gateways report the status as `code`. If the context is
 * too long, they respond with status 400.
 */
const getResponseFailureCode = ({ status, code }: APIError): AgentErrorCode => {
  if (code === 'context_length_exceeded') return 'context-too-long'
  if (code === 'insufficient_quota') return 'provider-out-of-credit'
  const known = status ?? Number(code)
  return failureByStatus[known] ?? (known >= 400 && known < 500 ? 'provider-refused' : 'provider-failed')
}

const maxRetryAfterMs = 3_600_000

const parseRetryDelay = ({ headers }: APIError): number | null => {
  const retryAfterMs = headers && readRetryAfter(headers)
  return retryAfterMs === undefined ? null : Math.min(retryAfterMs, maxRetryAfterMs)
}
