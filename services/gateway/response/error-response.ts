import type { ErrorRequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { errorStatuses, ServiceError } from '#proto/errors.ts'
import type { ErrorResponse } from '#proto/http/response.ts'
import { getExchange, HttpError, type PublicError } from './http-exchange.ts'
import { sendJson } from './send.ts'

const internalError: PublicError = {
  status: errorStatuses.internal,
  type: 'internal',
  message: 'internal error; search the log for this request id',
}

/** Returns the default challenge of a 401, where HTTP requires one; undefined for other statuses. */
const defaultChallenge = ({ status }: PublicError): string | undefined =>
  status === errorStatuses.unauthenticated ? 'Bearer realm="watchhouse"' : undefined

/** Messages for errors of Express and its body parser, by status; their own messages can quote the request. */
const refusals: Readonly<Record<number, Omit<PublicError, 'status'>>> = {
  400: { type: 'invalid', message: 'the path or the body cannot be read' },
  413: { type: 'too-large', message: 'the body is too large' },
  415: { type: 'unsupported-media-type', message: 'unsupported content encoding of the body' },
}

/** Returns the part of an error that callers may see; internal errors become one fixed message. */
export const toPublicError = (error: unknown): PublicError => {
  // A stream that failed at both ends reports both errors, the cause first.
  if (error instanceof AggregateError && error.errors.length > 0) return toPublicError(error.errors[0])
  if (error instanceof ServiceError) {
    if (error.code === 'internal') return internalError
    const { code, message, details, retryAfterMs } = error
    return { status: errorStatuses[code], type: code, message, details, retryAfterMs }
  }
  if (error instanceof HttpError) return { status: error.status, type: error.type, message: error.message }
  const status = statusOf(error)
  const refusal = refusals[status]
  return refusal ? { status, ...refusal } : internalError
}

const statusOf = (error: unknown): number =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500

/** Returns the body of an error response. */
export const createErrorBody = ({ type, message, details }: PublicError, requestId: string): ErrorResponse => ({
  success: false,
  error: { type, message, ...(details && { details }) },
  metadata: { requestId },
})

/** Responds to an error that a route threw. A partial response is aborted, so that it does not look complete. */
export const createErrorHandler =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const exchange = getExchange(response)
    const { requestId, route, errorFormat } = exchange
    const visible = toPublicError(error)
    if (visible.status === 500) log.error({ requestId, route, err: error }, 'request failed')
    if (response.headersSent) {
      response.destroy()
      return
    }
    setRetryAfter(response, visible)
    const challenged = exchange.challenge?.(visible) ?? defaultChallenge(visible)
    if (challenged !== undefined) response.setHeader('WWW-Authenticate', challenged)
    const { status, body } = errorFormat?.(visible) ?? {
      status: visible.status,
      body: createErrorBody(visible, requestId),
    }
    sendJson(request, response, status, body)
  }

const setRetryAfter = (response: Response, { retryAfterMs }: PublicError): void => {
  if (retryAfterMs !== undefined) response.setHeader('Retry-After', Math.max(1, Math.ceil(retryAfterMs / 1000)))
}
