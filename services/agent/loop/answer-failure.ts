import type { AgentErrorCode } from '#proto/agent-parts.ts'

/** The error that ends an answer. Its message is shown to the user and never quotes a model gateway or a host. */
export class AnswerFailure extends Error {
  override readonly name = 'AnswerFailure'
  readonly code: AgentErrorCode
  readonly retryAfterMs: number | null

  constructor(code: AgentErrorCode, options: { retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(messages[code], { cause: options.cause })
    this.code = code
    this.retryAfterMs = this.retryable ? (options.retryAfterMs ?? null) : null
  }

  /** Whether a retry may succeed. */
  get retryable(): boolean {
    return retryable.has(this.code)
  }
}

const retryable: ReadonlySet<AgentErrorCode> = new Set([
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

const messages: Readonly<Record<AgentErrorCode, string>> = {
  'provider-key-refused': 'the model gateway rejects the API key; ask an administrator to set a valid one',
  'provider-out-of-credit': 'the account at the model gateway is out of credit; add credit, or choose another model',
  'provider-rate-limited': 'rate limit of the model gateway reached; try again later, or choose another model',
  'provider-refused': 'the model gateway rejected the question; choose another model, or rephrase it',
  'provider-unreachable': 'the model provider is unreachable; try again',
  'provider-failed': 'the model gateway failed; try again, or choose another model',
  'provider-garbled': 'invalid response from the model provider; try again, or choose another model',
  'provider-cut-off': 'the model provider closed the stream before the end; try again',
  'provider-timeout': 'the model gateway stopped responding; try again, or choose a faster model',
  'model-not-found': 'unknown model at the model provider; choose another',
  'context-too-long':
    'the conversation exceeds the context length of the model; start a new one, or choose another model',
  'empty-answer': 'the model returned an empty response; try again, or choose another model',
  'model-refused':
    'the model refused to answer, or a content filter stopped its answer; rephrase the question, or choose another model',
  'unusable-tool-calls': 'the model sent invalid tool calls; try again, or choose another model',
  'step-limit': 'step limit reached; narrow the question',
  'token-limit': 'token limit reached; narrow the question',
  'cost-limit': 'cost limit reached; narrow the question, or choose a cheaper model',
  'time-limit': 'time limit reached; narrow the question',
  'worker-stopping': 'the agent process is shutting down; send the message again',
  'run-lost': 'the agent process stopped; send the message again',
  internal: 'internal error; see the log of the service',
}
