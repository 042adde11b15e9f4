import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { z } from 'zod'
import type { ErrorPart, PlanPart } from '#proto/agent-parts.ts'
import { findHost } from '#shared/tools/tool.ts'
import { mayRequestChanges } from '../approvals/control-tools.ts'
import { AnswerFailure } from './answer-failure.ts'
import { toFunctionCall } from './chunks.ts'
import { correctAnswer, emitClaims } from './correct-answer.ts'
import { toModelMessages } from './history.ts'
import { formatQuestionContext, systemPrompt, reminderPrefix } from './prompt.ts'
import { createModelStepRunner } from './model-steps.ts'
import { streamEndMarker, type AnswerContext, type FinishReason } from './answer-context.ts'
import { runToolCalls } from './tool-calls.ts'
import type { Toolbox } from './toolbox.ts'
import type { StepResponse } from './request-step.ts'

/** The outcome of an answer, for logs and metrics. */
type AnswerOutcome = 'answered' | 'stopped' | AnswerFailure['code']

/** The context of an answer before its tools are loaded. */
type AnswerContextWithoutTools = Omit<AnswerContext, 'toolbox'>

/** Answers the question and emits all events of the run. Failures are emitted, not thrown. */
export const runAnswer = async (
  started: AnswerContextWithoutTools,
  toolbox: () => Promise<Toolbox>,
): Promise<AnswerOutcome> => {
  const { run, emit } = started
  // Emitted before any request, so that readers know immediately that the answer has started.
  emit({ type: 'start', messageId: run.id, messageMetadata: { runId: run.id } })
  try {
    const [tools, opening] = await Promise.all([toolbox(), createInitialMessages(started)])
    const talk = { ...started, toolbox: tools }
    concludeAnswer(talk, await runConversation(talk, opening))
    return 'answered'
  } catch (error) {
    return endAnswerEarly(started, error)
  } finally {
    run.emit(streamEndMarker)
  }
}

/** Returns the initial messages. Many models accept only one system message, so it holds both prompt and context. */
const createInitialMessages = async ({ question, call, context, env }: AnswerContextWithoutTools) => {
  const { name: hostName } = await findHost(context, undefined)
  const facts = { hostName, mayRequestChanges: mayRequestChanges(call, env), now: new Date(context.clock.now()) }
  const content = `${systemPrompt}\n\n${formatQuestionContext(question, facts)}`
  return [{ role: 'system' as const, content }, ...toModelMessages(question.messages)]
}

const concludeAnswer = (talk: AnswerContext, { texts, finishReason }: Conversation): void => {
  const { emit, plan, meter } = talk
  if (finishReason === 'stop' && plan.steps().length > 0 && plan.unfinished().length === 0) {
    plan.answered()
    const part: z.input<typeof PlanPart> = { steps: [...plan.steps()] }
    emit({ type: 'data-plan', id: 'plan', data: part })
  }
  emitClaims(talk, texts)
  emit({ type: 'data-usage', id: 'usage', data: meter.sum() })
  emit({ type: 'finish', finishReason })
}

const endAnswerEarly = (
  { run, emit, time, model, meter, log }: AnswerContextWithoutTools,
  error: unknown,
): AnswerOutcome => {
  emit({ type: 'data-usage', id: 'usage', data: meter.sum() })
  if (run.signal.aborted && run.signal.reason !== 'stopping') {
    emit({ type: 'abort', reason: run.signal.reason === 'requested' ? 'stopped by the user' : 'no reader connected' })
    return 'stopped'
  }
  const failure = toAnswerFailure(error, run.signal, time.signal)
  if (failure.code === 'internal') log.error({ runId: run.id, err: error }, 'answer failed')
  const { code, message, retryable, retryAfterMs } = failure
  const part: z.input<typeof ErrorPart> = {
    code,
    message,
    retryable,
    retryAfterMs,
    provider: model.provider,
    model: model.id,
  }
  emit({ type: 'data-error', id: 'error', data: part })
  emit({ type: 'error', errorText: message })
  emit({ type: 'finish', finishReason: 'error' })
  return code
}

const toAnswerFailure = (error: unknown, stopped: AbortSignal, late: AbortSignal): AnswerFailure => {
  if (stopped.aborted) return new AnswerFailure('worker-stopping')
  if (late.aborted) return new AnswerFailure('time-limit')
  return error instanceof AnswerFailure ? error : new AnswerFailure('internal', { cause: error })
}

/** Maximum consecutive steps whose tool calls are all invalid. */
const maxUnusableSteps = 3
/** Maximum number of reminders to finish the plan. */
const maxReminders = 1

/** The result of the conversation with the model. */
interface Conversation {
  /** The texts of all steps. */
  texts: readonly string[]
  finishReason: FinishReason
}

/** Alternates model steps and tool calls until the model calls no more tools. Throws `AnswerFailure`. */
const runConversation = async (
  talk: AnswerContext,
  opening: readonly ChatCompletionMessageParam[],
): Promise<Conversation> => {
  const { SVC_AGENT_MAX_STEPS: maxSteps } = talk.settings
  const speak = createModelStepRunner(talk)
  const messages = [...opening]
  const texts: string[] = []
  const end = (finishReason: FinishReason): Conversation => ({ texts, finishReason })
  let unusable = 0
  let reminders = 0
  for (let number = 1; number <= maxSteps; number += 1) {
    // The model must answer in its last step. If it still calls tools, the step limit is reached.
    const mayCallTools = number < maxSteps
    talk.emit({ type: 'start-step' })
    const response = await speak(messages, { number, mayCallTools })
    texts.push(response.text)
    messages.push(createAssistantMessage(response))
    if (response.calls.length > 0 && !mayCallTools) break
    const { results, isWaitingForPerson, noneUsable } = await runToolCalls(talk, response.calls)
    talk.emit({ type: 'finish-step' })
    messages.push(...results)
    if (isWaitingForPerson) return end('tool-calls')
    if (response.calls.length === 0) {
      const unfinished = talk.plan.unfinished()
      if (unfinished.length === 0 || reminders === maxReminders) {
        if (response.cut || !mayCallTools) return end(response.cut ? 'length' : 'stop')
        return {
          texts: await correctAnswer(talk, { speak, messages, texts, number: number + 1 }),
          finishReason: 'stop',
        }
      }
      reminders += 1
      messages.push(createReminder(unfinished))
    }
    unusable = response.calls.length > 0 && noneUsable ? unusable + 1 : 0
    if (unusable === maxUnusableSteps) throw new AnswerFailure('unusable-tool-calls')
  }
  throw new AnswerFailure('step-limit')
}

const createAssistantMessage = ({ text, calls }: StepResponse): ChatCompletionMessageParam => ({
  role: 'assistant',
  content: text === '' ? null : text,
  ...(calls.length > 0 && { tool_calls: calls.map(toFunctionCall) }),
})

/** Returns the reminder as a user message, since many models accept system messages only at the beginning. */
const createReminder = (unfinished: readonly string[]): ChatCompletionMessageParam => ({
  role: 'user',
  content: `${reminderPrefix} The plan has steps that are not completed: ${unfinished.join('; ')}. Go on with them, or say why they are not needed.`,
})
