/** Why a request gave no answer. `status` is 0 when the service could not be reached at all. */
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

  /** Worth another attempt soon: the network failed, or the service is busy and said when to come again. */
  get passing(): boolean {
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

/** The sentence to show for whatever was thrown. */
export const failureMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** The host that an error says has not answered; null where it answered with a failure, or something else went wrong. */
export const silentHost = (error: unknown): string | null => {
  const { host, reason } = error instanceof RequestFailure ? error.details : {}
  return typeof host === 'string' && typeof reason === 'string' ? host : null
}
