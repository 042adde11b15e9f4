import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { AgentFailure } from '#proto/agent-parts.ts'
import { shortenText } from '#shared/text/strings.ts'
import { charactersPerToken } from './answer-limits.ts'
import { AnswerFailure } from './answer-failure.ts'
import { reminderPrefix } from './prompt.ts'
import type { AnswerContext } from './answer-context.ts'
import { requestStep, type StepResponse } from './request-step.ts'

/** Runs one model step. Throws `AnswerFailure`, or the abort reason of the run. */
type RunModelStep = (messages: readonly ChatCompletionMessageParam[], step: ModelStep) => Promise<StepResponse>

interface ModelStep {
  number: number
  mayCallTools: boolean
}

/** Failures after which the fallback model is tried. */
const fallbackFailures: ReadonlySet<AgentFailure> = new Set([
  'model-not-found',
  'provider-failed',
  'provider-rate-limited',
  'provider-out-of-credit',
])
/** Maximum attempts per step. Only an empty response is retried. */
const maxAttempts = 2

type ModelStepContext = Pick<AnswerContext, 'model' | 'settings' | 'call' | 'meter' | 'toolbox' | 'emit' | 'run'>

/**
 * Returns a function that runs the model steps of an answer. If the model fails, the current and all further steps use
 * the fallback model. An empty response is retried once.
 */
export const openModelSteps = (talk: ModelStepContext): RunModelStep => {
  const { model } = talk
  let name = model.model

  const once = async (
    messages: readonly ChatCompletionMessageParam[],
    step: ModelStep,
    attempt: number,
  ): Promise<StepResponse> => {
    const progress = { hasSpoken: false }
    try {
      return await takeStep(talk, messages, { ...step, name, prefix: createIdPrefix(talk, step, attempt), progress })
    } catch (error) {
      const mayFallBack = error instanceof AnswerFailure && fallbackFailures.has(error.code) && !progress.hasSpoken
      if (!mayFallBack || model.fallback === null || name === model.fallback) throw error
      name = model.fallback
      return once(messages, step, attempt)
    }
  }

  return async (messages, step) => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const response = await once(messages, step, attempt)
      if (response.text.trim() !== '' || response.calls.length > 0) return response
    }
    throw new AnswerFailure('empty-answer')
  }
}

/** Returns an id prefix that is unique within the conversation. It contains the run, as a conversation has several. */
const createIdPrefix = ({ run }: Pick<AnswerContext, 'run'>, { number }: ModelStep, attempt: number): string =>
  `${run.id.slice(-8)}-${number}${attempt > 1 ? `-${attempt}` : ''}`

interface StepOptions extends ModelStep {
  name: string
  prefix: string
  progress: { hasSpoken: boolean }
}

const takeStep = async (
  { model, settings, call, meter, toolbox, emit }: ModelStepContext,
  conversation: readonly ChatCompletionMessageParam[],
  { name, prefix, mayCallTools, progress }: StepOptions,
): Promise<StepResponse> => {
  meter.requireLeft({ tokens: settings.SVC_AGENT_MAX_TOKENS, cents: settings.SVC_AGENT_MAX_COST_CENTS })
  const tools = toolbox.offered()
  const extraCharacters = JSON.stringify(tools).length
  const messages = compactConversation(conversation, { contextTokens: model.contextTokens, extraCharacters })
  const late = AbortSignal.timeout(settings.SVC_AGENT_STEP_SECONDS * 1_000)
  const signal = AbortSignal.any([call.signal, late])
  const spoke = () => {
    progress.hasSpoken = true
    meter.spoke()
  }
  try {
    const response = await requestStep({ model, name, messages, tools, mayCallTools, signal, prefix }, emit, spoke)
    const written = response.text.length + JSON.stringify(response.calls).length
    meter.add({ ...response, read: measureLength(messages) + extraCharacters, written })
    return response
  } catch (error) {
    call.signal.throwIfAborted()
    throw late.aborted ? new AnswerFailure('provider-timeout') : error
  }
}

/** Length of a tool result after truncation, in characters. */
const compactedLength = 600
/** Tool results with fewer characters are not truncated. */
const minCompactedLength = 2_048
/** Maximum share of the context length that the conversation may use. */
const maxContextShare = 0.7

/**
 * Shortens a conversation until it fits into the context length of the model. Truncates tool results, oldest first,
 * then drops the oldest questions with their answers. Throws `context-too-long` if that is not enough.
 */
export const compactConversation = (
  messages: readonly ChatCompletionMessageParam[],
  { contextTokens, extraCharacters }: { contextTokens: number; extraCharacters: number },
): ChatCompletionMessageParam[] => {
  const room = contextTokens * maxContextShare * charactersPerToken - extraCharacters
  const result = [...messages]
  let length = measureLength(result)
  for (const [index, message] of messages.entries()) {
    if (length <= room) break
    const shorter = compactToolResult(message)
    length -= measureLength([message]) - measureLength([shorter])
    result[index] = shorter
  }
  while (length > room) length -= measureLength(removeOldestQuestion(result))
  return result
}

const compactToolResult = (message: ChatCompletionMessageParam): ChatCompletionMessageParam => {
  if (message.role !== 'tool' || typeof message.content !== 'string' || message.content.length < minCompactedLength) {
    return message
  }
  const content = `${shortenText(message.content, compactedLength)}…</data>\nThe rest was dropped to save space; call the tool again if it matters.`
  return { ...message, content }
}

/** Removes and returns the oldest question with its answer and tool calls. Throws if only one question remains. */
const removeOldestQuestion = (messages: ChatCompletionMessageParam[]): ChatCompletionMessageParam[] => {
  const [first, next] = messages.flatMap((message, index) => (isUserMessage(message) ? [index] : []))
  if (first === undefined || next === undefined) throw new AnswerFailure('context-too-long')
  return messages.splice(first, next - first)
}

const isUserMessage = ({ role, content }: ChatCompletionMessageParam): boolean =>
  role === 'user' && !(typeof content === 'string' && content.startsWith(reminderPrefix))

/** Returns the approximate length of a conversation, in characters. */
const measureLength = (messages: readonly ChatCompletionMessageParam[]): number => JSON.stringify(messages).length
