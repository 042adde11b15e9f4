import type { ErrorPart, PlanPart } from '#proto/agent-parts.ts'
import type { z } from 'zod'
import { hostAt } from '#shared/tools/tool.ts'
import { mayWish } from '../approvals/may-wish.ts'
import { claimsOf } from '../evidence/claims.ts'
import { done } from './chunk.ts'
import { type Conversed, converse } from './converse.ts'
import { AnswerFailure } from './failure.ts'
import { historyOf } from './history.ts'
import { contextOf, prompt } from './prompt.ts'
import type { Talk } from './talk.ts'
import type { Toolbox } from './toolbox.ts'

/** What came of an answer, for logs and metrics. */
export type AnswerOutcome = 'answered' | 'stopped' | AnswerFailure['code']

/** An answer whose tools are not known yet. */
export type Begun = Omit<Talk, 'toolbox'>

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
