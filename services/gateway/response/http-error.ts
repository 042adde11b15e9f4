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
