import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { z } from 'zod'
import type { ErrorPart, PlanPart } from '#proto/agent-parts.ts'
import { hostAt } from '#shared/tools/tool.ts'
import { mayWish } from '../approvals/control-tools.ts'
import { claimsOf } from './evidence.ts'
import { AnswerFailure } from './failure.ts'
import { functionCall } from './heard.ts'
import { historyOf } from './history.ts'
import { contextOf, prompt, reminder } from './prompt.ts'
import { openSpeaker } from './speaker.ts'
import { done, type Talk, type FinishReason } from './talk.ts'
import { carryOut } from './tool-calls.ts'
import type { Toolbox } from './toolbox.ts'
import type { Turn } from './turn.ts'

/** What came of an answer, for logs and metrics. */
type AnswerOutcome = 'answered' | 'stopped' | AnswerFailure['code']

/** An answer whose tools are not known yet. */
type Begun = Omit<Talk, 'toolbox'>

/** Answers the question from its first event to its last, whatever happens; never throws. */
export const answer = async (begun: Begun, toolbox: () => Promise<Toolbox>): Promise<AnswerOutcome> => {
  const { run, tell } = begun
  // Told before anything is asked, so that whoever waits sees that the answer has begun.
  tell({ type: 'start', messageId: run.id, messageMetadata: { runId: run.id } })
  try {
    const [tools, opening] = await Promise.all([toolbox(), openingOf(begun)])
    const talk = { ...begun, toolbox: tools }
    conclude(talk, await converse(talk, opening))
    return 'answered'
  } catch (error) {
    return endEarly(begun, error)
  } finally {
    run.tell(done)
  }
}

/** All that the model reads before it begins: first what never changes. Many a model takes one message of the system and no more. */
const openingOf = async ({ question, call, context, env }: Begun) => {
  const { name: hostName } = await hostAt(context, undefined)
  const facts = { hostName, mayWish: mayWish(call, env), now: new Date(context.clock.now()) }
  const content = `${prompt}\n\n${contextOf(question, facts)}`
  return [{ role: 'system' as const, content }, ...historyOf(question.messages)]
}

const conclude = ({ tell, plan, ledger, meter }: Talk, { text, finishReason }: Conversed): void => {
  if (finishReason === 'stop' && plan.steps().length > 0 && plan.unfinished().length === 0) {
    plan.answered()
    const part: z.input<typeof PlanPart> = { steps: [...plan.steps()] }
    tell({ type: 'data-plan', id: 'plan', data: part })
  }
  tell({ type: 'data-claims', id: 'claims', data: claimsOf(text, ledger.has) })
  tell({ type: 'data-usage', id: 'usage', data: meter.sum() })
  tell({ type: 'finish', finishReason })
}

const endEarly = ({ run, tell, time, model, meter, log }: Begun, error: unknown): AnswerOutcome => {
  tell({ type: 'data-usage', id: 'usage', data: meter.sum() })
  if (run.signal.aborted && run.signal.reason !== 'stopping') {
    tell({ type: 'abort', reason: run.signal.reason === 'asked' ? 'stopped as asked' : 'nobody was reading' })
    return 'stopped'
  }
  const failure = failureOf(error, run.signal, time.signal)
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
  tell({ type: 'data-error', id: 'error', data: part })
  tell({ type: 'error', errorText: message })
  tell({ type: 'finish', finishReason: 'error' })
  return code
}

const failureOf = (error: unknown, stopped: AbortSignal, late: AbortSignal): AnswerFailure => {
  if (stopped.aborted) return new AnswerFailure('worker-stopping')
  if (late.aborted) return new AnswerFailure('time-limit')
  return error instanceof AnswerFailure ? error : new AnswerFailure('internal', { cause: error })
}

/** Steps in a row of which not one call can be read. */
const unusableAtMost = 3
/** Times that a model is reminded of a plan it left unfinished. */
const remindersAtMost = 1

/** What was said at the end. */
interface Conversed {
  /** All that the model said to the person, of every step. */
  text: string
  finishReason: FinishReason
}

/** Lets the model speak and the tools answer in turn, until the model has no more questions. Throws `AnswerFailure`. */
const converse = async (talk: Talk, opening: readonly ChatCompletionMessageParam[]): Promise<Conversed> => {
  const { SVC_AGENT_MAX_STEPS: mostSteps } = talk.settings
  const speak = openSpeaker(talk)
  const messages = [...opening]
  const texts: string[] = []
  const end = (finishReason: FinishReason): Conversed => ({ text: texts.join('\n'), finishReason })
  let unusable = 0
  let reminders = 0
  for (let number = 1; number <= mostSteps; number += 1) {
    // The last step is for the answer; a model that asks for tools all the same has come to no end.
    const mayCallTools = number < mostSteps
    talk.tell({ type: 'start-step' })
    const turn = await speak(messages, { number, mayCallTools })
    texts.push(turn.text)
    messages.push(assistantMessage(turn))
    if (turn.calls.length > 0 && !mayCallTools) break
    const { results, isAsking, noneUsable } = await carryOut(talk, turn.calls)
    talk.tell({ type: 'finish-step' })
    messages.push(...results)
    if (isAsking) return end('tool-calls')
    if (turn.calls.length === 0) {
      const unfinished = talk.plan.unfinished()
      if (unfinished.length === 0 || reminders === remindersAtMost) return end(turn.cut ? 'length' : 'stop')
      reminders += 1
      messages.push(reminderOf(unfinished))
    }
    unusable = turn.calls.length > 0 && noneUsable ? unusable + 1 : 0
    if (unusable === unusableAtMost) throw new AnswerFailure('unusable-tool-calls')
  }
  throw new AnswerFailure('step-limit')
}

const assistantMessage = ({ text, calls }: Turn): ChatCompletionMessageParam => ({
  role: 'assistant',
  content: text === '' ? null : text,
  ...(calls.length > 0 && { tool_calls: calls.map(functionCall) }),
})

/** In the place of the person, since many a model takes words of the system at the very beginning only. */
const reminderOf = (unfinished: readonly string[]): ChatCompletionMessageParam => ({
  role: 'user',
  content: `${reminder} The plan has steps that are not completed: ${unfinished.join('; ')}. Go on with them, or say why they are not needed.`,
})
