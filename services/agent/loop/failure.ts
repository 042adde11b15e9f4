import type { AgentFailure } from '#proto/agent-parts.ts'

/** Why an answer cannot go on, in words that a person may read: never what a gateway or a host wrote. */
export class AnswerFailure extends Error {
  override readonly name = 'AnswerFailure'
  readonly code: AgentFailure
  readonly retryAfterMs: number | null

  constructor(code: AgentFailure, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(sentences[code], { cause: options.cause })
    this.code = code
    this.retryAfterMs = this.retryable ? (options.retryAfterMs ?? null) : null
  }

  /** Whether asking again may help as things are. */
  get retryable(): boolean {
    return retryable.has(this.code)
  }
}

const retryable: ReadonlySet<AgentFailure> = new Set([
  'provider-rate-limited',
  'provider-unreachable',
  'provider-failed',
  'provider-garbled',
  'provider-cut-off',
  'provider-timeout',
  'empty-answer',
  'unusable-tool-calls',
  'time-limit',
  'worker-stopping',
  'run-lost',
])

const sentences: Readonly<Record<AgentFailure, string>> = {
  'provider-key-refused': 'the model gateway refuses the key; the operator has to set a valid one',
  'provider-out-of-credit': 'the model gateway wants to be paid first; add credit there, or choose another model',
  'provider-rate-limited': 'the model gateway is asked too often; wait a little, or choose another model',
  'provider-refused': 'the model gateway does not take this question; choose another model, or ask in other words',
  'provider-unreachable': 'the model gateway cannot be reached; try again',
  'provider-failed': 'the model gateway failed; try again, or choose another model',
  'provider-garbled': 'the model gateway sent what cannot be read; try again, or choose another model',
  'provider-cut-off': 'the model gateway stopped in the middle of its answer; try again',
  'provider-timeout': 'the model took too long for one step; try again, or choose a faster model',
  'model-not-found': 'the model gateway does not know this model; choose another',
  'context-too-long': 'the conversation is longer than this model can read; begin a new one, or choose another model',
  'empty-answer': 'the model answered nothing; try again, or choose another model',
  'unusable-tool-calls': 'the model calls tools in a way that cannot be read; try again, or choose another model',
  'step-limit': 'the model asked for tools until no steps were left; ask a narrower question',
  'token-limit': 'the answer took as many tokens as one may; ask a narrower question',
  'cost-limit': 'the answer cost as much as one may; ask a narrower question, or choose a cheaper model',
  'time-limit': 'the answer took as long as one may; ask a narrower question',
  'worker-stopping': 'the process that worked at the answer stops; ask again',
  'run-lost': 'the process that worked at the answer is gone; ask again',
  internal: 'something failed on our side; the log tells more',
}
