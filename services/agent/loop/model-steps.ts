import { setTimeout as wait } from 'node:timers/promises'
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { AgentErrorCode } from '#proto/agent-parts.ts'
import { shortenText } from '#shared/text/strings.ts'
import { charactersPerToken, openIdleTimeout } from './answer-limits.ts'
import { AnswerFailure } from './answer-failure.ts'
import { endModelSpan, startModelSpan } from '../models/model-span.ts'
import { reminderPrefix } from './prompt.ts'
import type { AnswerContext, ChunkEmitter } from './answer-context.ts'
import { createStepProgress, requestStep, type StepResponse } from './request-step.ts'

/** Runs one model step. Throws `AnswerFailure`, or the abort reason of the run. */
export type ModelStepRunner = (
  messages: readonly ChatCompletionMessageParam[],
  step: ModelStep,
) => Promise<StepResponse>

interface ModelStep {
  number: number
  mayCallTools: boolean
  /** Receives the chunks of the step. If absent, they are sent to the readers of the run. */
  emit?: ChunkEmitter
}

/** Failures after which the fallback model is tried. */
const fallbackFailures: ReadonlySet<AgentErrorCode> = new Set([
  'model-not-found',
  'provider-failed',
  'provider-rate-limited',
  'provider-out-of-credit',
])
/** Failures after which the same model is tried once more. */
const temporaryFailures: ReadonlySet<AgentErrorCode> = new Set([
  'provider-failed',
  'provider-rate-limited',
  'provider-unreachable',
])
/** The delay before a retry if the gateway demands none, in milliseconds. */
const retryDelayMs = 500
/** Maximum delay before a retry. If the gateway demands a longer one, the fallback model is tried. */
const maxRetryDelayMs = 5_000
/** Maximum attempts per step after an empty response. */
const maxAttempts = 2

type ModelStepContext = Pick<
  AnswerContext,
  'model' | 'settings' | 'call' | 'meter' | 'toolbox' | 'emit' | 'run' | 'tracer'
>

/**
 * Returns a function that runs the model steps of an answer. A temporary failure before any output is retried once. If
 * the model still fails, the current and all further steps use the fallback model. An empty response is retried once.
 * Each request counts towards the limits of the answer.
 */
export const createModelStepRunner = (talk: ModelStepContext): ModelStepRunner => {
  const { model, call } = talk
  let name = model.model

  const once = async (
    messages: readonly ChatCompletionMessageParam[],
    step: ModelStep,
    attempt: number,
    mayRetry = true,
  ): Promise<StepResponse> => {
    const output = { hasOutput: false }
    try {
      return await takeStep(talk, messages, { ...step, name, prefix: createIdPrefix(talk, step, attempt), output })
    } catch (error) {
      if (!(error instanceof AnswerFailure) || output.hasOutput) throw error
      const delayMs = error.retryAfterMs ?? retryDelayMs
      if (mayRetry && temporaryFailures.has(error.code) && delayMs <= maxRetryDelayMs) {
        await wait(delayMs, undefined, { signal: call.signal })
        return once(messages, step, attempt, false)
      }
      if (!fallbackFailures.has(error.code) || model.fallback === null || name === model.fallback) throw error
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

/** Returns an id prefix that is unique within the conversation. It contains the end of the run id. */
const createIdPrefix = ({ run }: Pick<AnswerContext, 'run'>, { number }: ModelStep, attempt: number): string =>
  `${run.id.slice(-8)}-${number}${attempt > 1 ? `-${attempt}` : ''}`

interface StepOptions extends ModelStep {
  name: string
  prefix: string
  /** Whether the model has sent output, which cannot be retracted. */
  output: { hasOutput: boolean }
}

const takeStep = async (
  { model, settings, call, meter, toolbox, tracer, emit: emitToReaders }: ModelStepContext,
  conversation: readonly ChatCompletionMessageParam[],
  { name, prefix, mayCallTools, output, emit = emitToReaders }: StepOptions,
): Promise<StepResponse> => {
  meter.requireLeft({ tokens: settings.SVC_AGENT_MAX_TOKENS, cents: settings.SVC_AGENT_MAX_COST_CENTS })
  const tools = toolbox.offered()
  const extraCharacters = JSON.stringify(tools).length
  const messages = compactConversation(conversation, { contextTokens: model.contextTokens, extraCharacters })
  using idle = openIdleTimeout(settings.SVC_AGENT_STEP_SECONDS * 1_000)
  const signal = AbortSignal.any([call.signal, idle.signal])
  const progress = createStepProgress()
  const onChunk = (hasContent: boolean): void => {
    idle.restart()
    if (!hasContent) return
    output.hasOutput = true
    meter.spoke()
  }
  const span = startModelSpan(tracer, model, name, call.trace)
  const endSpan = (error?: unknown): void => {
    const { usage, resolvedModel, finishReason } = progress
    const tokens = { inputTokens: usage?.prompt_tokens, outputTokens: usage?.completion_tokens }
    endModelSpan(span, { model: resolvedModel, ...tokens, finishReason }, error)
  }
  try {
    const request = { model, name, messages, tools, mayCallTools, signal, prefix }
    const response = await requestStep(request, emit, progress, onChunk)
    endSpan()
    return response
  } catch (error) {
    const failure = idle.signal.aborted ? new AnswerFailure('provider-timeout') : error
    endSpan(failure)
    call.signal.throwIfAborted()
    throw failure
  } finally {
    if (!progress.isRejected) meter.add({ ...progress, read: measureLength(messages) + extraCharacters })
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
