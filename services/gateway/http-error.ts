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
