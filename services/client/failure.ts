import { type ErrorCode, isErrorCode } from '#proto/errors.ts'
import { ErrorResponse } from '#proto/http/response.ts'

/** Why a request failed: an error code of the API, or what is wrong with the connection or the response. */
export type FailureCode =
  | ErrorCode
  | 'unreachable'
  | 'no-response'
  | 'invalid-response'
  | 'incomplete-response'
  | 'unknown'

interface FailureFields {
  status: number
  code: FailureCode
  /** The error code as sent. It differs from `code` only for codes of a newer release and of OAuth. */
  type: string
  message: string
  details?: Readonly<Record<string, unknown>> | undefined
  requestId?: string | null | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

/** A failed request. `status` is 0 if no response arrived. */
export class RequestError extends Error {
  override readonly name = 'RequestError'
  readonly status: number
  readonly code: FailureCode
  readonly type: string
  readonly details: Readonly<Record<string, unknown>>
  /** The id under which the service logged the request; null if no response arrived. */
  readonly requestId: string | null
  readonly retryAfterMs: number | undefined

  constructor(fields: FailureFields) {
    super(fields.message, { cause: fields.cause })
    this.status = fields.status
    this.code = fields.code
    this.type = fields.type
    this.details = fields.details ?? {}
    this.requestId = fields.requestId ?? null
    this.retryAfterMs = fields.retryAfterMs
  }

  /** Returns the same failure with another message. */
  withMessage(message: string): RequestError {
    return new RequestError({ ...this, message, cause: this })
  }

  /** Whether no service responded: the caller can only check the address and the network. */
  get isUnreachable(): boolean {
    return this.code === 'unreachable' || this.code === 'no-response'
  }

  /** Whether an equal request may succeed soon. */
  get isTransient(): boolean {
    return this.isUnreachable || transientStatuses.has(this.status)
  }
}

/** Too many requests, and the statuses of proxies and services that are busy or restarting. */
const transientStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504])

/** Returns the error of a response whose status is not successful. Reads its body. */
export const createResponseError = async (response: Response, nowMs: number): Promise<RequestError> => {
  const body = parseBody(await response.text().catch(() => ''))
  const type = body?.type ?? 'unknown'
  return new RequestError({
    status: response.status,
    code: isErrorCode(type) ? type : 'unknown',
    type,
    message: body?.message ?? `the service responded with ${response.status} ${response.statusText}`.trimEnd(),
    details: body?.details,
    requestId: body?.requestId ?? response.headers.get('x-request-id'),
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), nowMs),
  })
}

/** Returns the error of a response that is not what a Watchhouse server sends. */
export const createInvalidResponseError = ({ status, headers }: Response, cause?: unknown): RequestError =>
  new RequestError({
    status,
    code: 'invalid-response',
    type: 'unknown',
    message: 'the response is not valid JSON; check that the address is that of a Watchhouse server',
    requestId: headers.get('x-request-id'),
    cause,
  })

/** Returns the error of a response whose body ends early. The service ends it if the request fails after it began. */
export const createIncompleteError = (host: string, { status, headers }: Response, cause?: unknown): RequestError =>
  new RequestError({
    status,
    code: 'incomplete-response',
    type: 'unknown',
    message: `${host}: the response is incomplete: the request failed after its first rows, or the connection was lost`,
    requestId: headers.get('x-request-id'),
    cause,
  })

interface ErrorBody {
  type: string
  message: string
  details?: Record<string, unknown> | undefined
  requestId?: string
}

/** Parses the body of an error: that of the API, or that of OAuth (RFC 6749 §5.2). */
const parseBody = (text: string): ErrorBody | undefined => {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return undefined
  }
  const api = ErrorResponse.safeParse(body)
  if (api.success) return { ...api.data.error, requestId: api.data.metadata.requestId }
  if (typeof body !== 'object' || body === null || !('error' in body) || typeof body.error !== 'string')
    return undefined
  const description = 'error_description' in body ? body.error_description : undefined
  return { type: body.error, message: typeof description === 'string' ? description : body.error }
}

/** Returns the delay in a `Retry-After` header in milliseconds: seconds, or an HTTP date relative to `nowMs`. */
export const parseRetryAfter = (header: string | null, nowMs: number): number | undefined => {
  const value = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  const atMs = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs)
}
