/** Why a statement is not run. */
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

/** A statement that the guard does not let through: where, and in words that a person or a model can act on. */
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
