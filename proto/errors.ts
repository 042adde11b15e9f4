/** All error codes of calls, with their HTTP statuses. The set is closed, so callers can switch over it. */
export const errorStatuses = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  conflict: 409,
  gone: 410,
  'too-large': 413,
  'rate-limited': 429,
  internal: 500,
  'not-implemented': 501,
  busy: 503,
  unavailable: 503,
  timeout: 504,
} as const

export type ErrorCode = keyof typeof errorStatuses

/** Details of a failure for callers; never a secret, a host URL or a stack trace. */
export type ErrorDetails = Record<string, unknown>

interface ServiceErrorOptions {
  details?: ErrorDetails
  /** Delay before a retry in milliseconds; sent as `Retry-After`. */
  retryAfterMs?: number
  cause?: unknown
}

/**
 * An expected failure for the caller. Any other thrown value is a defect: it is logged and sent over the bus as
 * `internal`.
 */
export class ServiceError extends Error {
  override readonly name = 'ServiceError'
  readonly code: ErrorCode
  readonly details: ErrorDetails | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: ErrorCode, sentence: string, options: ServiceErrorOptions = {}) {
    super(sentence, { cause: options.cause })
    this.code = code
    this.details = options.details
    this.retryAfterMs = options.retryAfterMs
  }
}

/** Returns whether a string is a known error code. A newer peer may send unknown ones. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorStatuses, code)
