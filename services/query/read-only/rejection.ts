/** The reason why a statement is rejected. */
export type RejectionReason =
  | 'too-long'
  | 'unreadable'
  | 'empty'
  | 'several-statements'
  | 'first-word'
  | 'write'
  | 'settings'
  | 'output'
  | 'function'
  | 'source'
  | 'cluster'

/** The rejection of a statement, with its position and a message that a user or a model can act on. */
export class Rejection extends Error {
  override readonly name = 'Rejection'
  readonly reason: RejectionReason
  /** Offset in characters from the start of the statement. */
  readonly position: number

  constructor(reason: RejectionReason, position: number, sentence: string) {
    super(sentence)
    this.reason = reason
    this.position = position
  }
}
