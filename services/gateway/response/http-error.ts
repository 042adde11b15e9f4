import type { ErrorDetails } from '#proto/errors.ts'

/** A failure of HTTP itself, which no service could have: it has no code on the bus. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, sentence: string) {
    super(sentence)
    this.status = status
    this.type = type
  }
}

/** What proxies log when their client left before the answer. */
export const clientClosedStatus = 499

/** Why work for a caller that has left is cancelled; nobody reads it as an answer, and it is no failure of ours. */
export const callerLeft = (): HttpError =>
  new HttpError(clientClosedStatus, 'client-closed-request', 'the caller left before the answer had ended')

/** A failure as HTTP shows it. */
export interface Shown {
  status: number
  type: string
  message: string
  details?: ErrorDetails | undefined
  retryAfterMs?: number | undefined
}

/** A failure in the words of a standard that has its own. */
export type Refusal = (shown: Shown) => { status: number; body: unknown }
