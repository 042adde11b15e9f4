/** Every way a call can fail for its caller, with the HTTP status the gateway answers. The set is closed: readers may switch over it. */
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

/** Facts about a failure that a caller may show or act on; never a secret, a URL of a host or a stack. */
export type ErrorDetails = Record<string, unknown>

interface ServiceErrorOptions {
  details?: ErrorDetails
  /** When trying again makes sense, in milliseconds from now; becomes `Retry-After`. */
  retryAfterMs?: number
  cause?: unknown
}

/** A failure that its caller may act on. Whatever else is thrown is a defect: it crosses the bus as `internal` and is logged where it happened. */
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

/** Whether a string is one of the closed set of codes; a newer peer may send one that this release does not know. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorStatuses, code)
