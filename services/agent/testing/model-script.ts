import { reminderPrefix } from '../loop/prompt.ts'
import type { ChatRequest } from './strict-request.ts'

/** One piece of a scripted response. */
export type ResponsePiece =
  | { text: string }
  | { reasoning: string }
  | { refusal: string }
  /** String arguments are sent unchanged, even if they are not JSON. */
  | { call: string; with?: Record<string, unknown> | string }

/** One response of a scripted model, or a failure of its gateway. */
export type ScriptedModelResponse =
  | {
      say: readonly ResponsePiece[]
      /** The finish reason; `cut` closes the stream without one, `stall` leaves it open. */
      ending?: 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error' | 'cut' | 'stall'
      /** The cost in the usage of the response, in US dollars, as OpenRouter reports it. */
      costUsd?: number
      tokensPerSecond?: number
      /** The delay before the first token. */
      thinksMs?: number
    }
  /** An HTTP error. */
  | { status: number; code?: string; headers?: Record<string, string> }
  /** A stream body that is sent unchanged. */
  | { raw: string }
  /** A stream that stays open without data. */
  | { silent: true }

/** The responses of a scripted model in order, or a function of the request. The last response is repeated. */
export type ModelScript = readonly ScriptedModelResponse[] | ((request: ChatRequest) => ScriptedModelResponse)

/** Returns the scripted response for a request. Throws if the script has none. */
export const selectResponse = (script: ModelScript, request: ChatRequest): ScriptedModelResponse => {
  if (typeof script === 'function') return script(request)
  const turn = script[Math.min(countResponses(request), script.length - 1)]
  if (turn === undefined) throw new Error('the script has no responses')
  return turn
}

/** Counts the responses of the model since the last user message. */
export const countResponses = ({ messages }: ChatRequest): number => {
  const questionIndex = messages.findLastIndex(isUserMessage)
  return messages.slice(questionIndex + 1).filter(({ role }) => role === 'assistant').length
}

/** Returns the text of the last user message. */
export const findLastQuestion = ({ messages }: ChatRequest): string => messages.findLast(isUserMessage)?.content ?? ''

/** Returns the evidence ids in the tool results since the last user message. */
export const extractEvidenceIds = ({ messages }: ChatRequest): string[] => {
  const questionIndex = messages.findLastIndex(isUserMessage)
  return messages
    .slice(questionIndex + 1)
    .flatMap(({ role, content }) =>
      role === 'tool' ? (/^Evidence: (.+)\.$/m.exec(content ?? '')?.[1]?.split(', ') ?? []) : [],
    )
}

const isUserMessage = ({ role, content }: ChatRequest['messages'][number]): boolean =>
  role === 'user' && !content?.startsWith(reminderPrefix)
