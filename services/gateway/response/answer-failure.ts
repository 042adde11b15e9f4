import type { ErrorRequestHandler, Response } from 'express'
import type { Logger } from 'pino'
import { errorStatuses, ServiceError } from '#proto/errors.ts'
import type { Failure } from '#proto/http/answer.ts'
import { exchangeOf, HttpError, type Shown } from './http-exchange.ts'
import { sendJson } from './send.ts'

const defect: Shown = {
  status: errorStatuses.internal,
  type: 'internal',
  message: 'something failed on our side; the log tells more under this request id',
}

/** Without it a 401 is no valid answer of HTTP. */
const usualChallenge = ({ status }: Shown): string | undefined =>
  status === errorStatuses.unauthenticated ? 'Bearer realm="watchhouse"' : undefined

/** What Express and its body parser refuse, by status; their own sentences may quote the request. */
const refusals: Readonly<Record<number, Omit<Shown, 'status'>>> = {
  400: { type: 'invalid', message: 'the path or the body cannot be read' },
  413: { type: 'too-large', message: 'the body is too large' },
  415: { type: 'unsupported-media-type', message: 'the encoding of the body is not known here' },
}

/** What a caller may know of an error; whatever is not meant for callers becomes one fixed sentence. */
export const shown = (error: unknown): Shown => {
  // A stream that failed at both ends tells of them together, first of why.
  if (error instanceof AggregateError && error.errors.length > 0) return shown(error.errors[0])
  if (error instanceof ServiceError) {
    if (error.code === 'internal') return defect
    const { code, message, details, retryAfterMs } = error
    return { status: errorStatuses[code], type: code, message, details, retryAfterMs }
  }
  if (error instanceof HttpError) return { status: error.status, type: error.type, message: error.message }
  const status = statusOf(error)
  const refusal = refusals[status]
  return refusal ? { status, ...refusal } : defect
}

const statusOf = (error: unknown): number =>
  error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : 500

/** The body of every error. */
export const failure = ({ type, message, details }: Shown, requestId: string): Failure => ({
  success: false,
  error: { type, message, ...(details && { details }) },
  metadata: { requestId },
})

/** Answers whatever a route threw. An answer that had begun is cut, so that nobody takes it for a whole one. */
export const answerFailure =
  (log: Logger): ErrorRequestHandler =>
  (error: unknown, request, response, _next) => {
    const exchange = exchangeOf(response)
    const { requestId, route, refusal } = exchange
    const visible = shown(error)
    if (visible.status === 500) log.error({ requestId, route, err: error }, 'request failed')
    if (response.headersSent) {
      response.destroy()
      return
    }
    setRetryAfter(response, visible)
    const challenged = exchange.challenge?.(visible) ?? usualChallenge(visible)
    if (challenged !== undefined) response.setHeader('WWW-Authenticate', challenged)
    const { status, body } = refusal?.(visible) ?? { status: visible.status, body: failure(visible, requestId) }
    sendJson(request, response, status, body)
  }

const setRetryAfter = (response: Response, { retryAfterMs }: Shown): void => {
  if (retryAfterMs !== undefined) response.setHeader('Retry-After', Math.max(1, Math.ceil(retryAfterMs / 1000)))
}
