/** A failed request. `status` is 0 when the service is unreachable. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure'
  readonly status: number
  /** The error code of the API, or `network`. */
  readonly type: string
  readonly details: Readonly<Record<string, unknown>>
  readonly requestId: string | null
  readonly retryAfterMs: number | null

  constructor(facts: FailureFacts) {
    super(facts.message)
    this.status = facts.status
    this.type = facts.type
    this.details = facts.details ?? {}
    this.requestId = facts.requestId ?? null
    this.retryAfterMs = facts.retryAfterMs ?? null
  }

  /** Whether a retry may succeed soon: the network failed, or the service is busy and sent `Retry-After`. */
  get isTransient(): boolean {
    return this.status === 0 || (this.status === 503 && this.retryAfterMs !== null)
  }
}

interface FailureFacts {
  status: number
  type: string
  message: string
  details?: Record<string, unknown> | undefined
  requestId?: string | null
  retryAfterMs?: number | null
}

/** Returns the message of a thrown value. */
export const getFailureMessage = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown)

/** Returns the name of the host that an error reports as unreachable; null for any other error. */
export const findUnreachableHost = (error: unknown): string | null => {
  const { host, reason } = error instanceof RequestFailure ? error.details : {}
  return typeof host === 'string' && typeof reason === 'string' ? host : null
}
