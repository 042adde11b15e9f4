import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { AgentFailure } from '#proto/agent-parts.ts'
import { compacted, lengthOf } from './compact.ts'
import { AnswerFailure } from './failure.ts'
import type { Talk } from './talk.ts'
import { takeTurn, type Turn } from './turn.ts'

/** Has the model take one step. Throws `AnswerFailure`, or the reason of the run's signal. */
export type Speak = (messages: readonly ChatCompletionMessageParam[], step: Step) => Promise<Turn>

interface Step {
  number: number
  mayCallTools: boolean
}

/** Failures of a model that its fallback may not share. */
const passedOn: ReadonlySet<AgentFailure> = new Set([
  'model-not-found',
  'provider-failed',
  'provider-rate-limited',
  'provider-out-of-credit',
])
/** Times that a model is asked which says nothing at all. */
const emptyAtMost = 2

/** What of an answer a model needs to take its steps. */
type Speaking = Pick<Talk, 'model' | 'settings' | 'call' | 'meter' | 'toolbox' | 'tell' | 'run'>

/** A model that is gone gives way to its fallback for good; one that says nothing is asked once more. */
export const openSpeaker = (talk: Speaking): Speak => {
  const { model } = talk
  let name = model.model

  const once = async (messages: readonly ChatCompletionMessageParam[], step: Step, times: number): Promise<Turn> => {
    const progress = { hasSpoken: false }
    try {
      return await takeStep(talk, messages, { ...step, name, prefix: prefixOf(talk, step, times), progress })
    } catch (error) {
      const mayPassOn = error instanceof AnswerFailure && passedOn.has(error.code) && !progress.hasSpoken
      if (!mayPassOn || model.fallback === null || name === model.fallback) throw error
      name = model.fallback
      return once(messages, step, times)
    }
  }

  return async (messages, step) => {
    for (let times = 1; times <= emptyAtMost; times += 1) {
      const turn = await once(messages, step, times)
      if (turn.text.trim() !== '' || turn.calls.length > 0) return turn
    }
    throw new AnswerFailure('empty-answer')
  }
}

/** Parts of one conversation must not share an id, and a run has only a part of one. */
const prefixOf = ({ run }: Pick<Talk, 'run'>, { number }: Step, times: number): string =>
  `${run.id.slice(-8)}-${number}${times > 1 ? `-${times}` : ''}`

interface Taken extends Step {
  name: string
  prefix: string
  progress: { hasSpoken: boolean }
}

const takeStep = async (
  { model, settings, call, meter, toolbox, tell }: Speaking,
  given: readonly ChatCompletionMessageParam[],
  { name, prefix, mayCallTools, progress }: Taken,
): Promise<Turn> => {
  meter.requireLeft({ tokens: settings.SVC_AGENT_MAX_TOKENS, cents: settings.SVC_AGENT_MAX_COST_CENTS })
  const tools = toolbox.told()
  const extraCharacters = JSON.stringify(tools).length
  const messages = compacted(given, { contextTokens: model.contextTokens, extraCharacters })
  const late = AbortSignal.timeout(settings.SVC_AGENT_STEP_SECONDS * 1_000)
  const signal = AbortSignal.any([call.signal, late])
  const spoke = () => {
    progress.hasSpoken = true
    meter.spoke()
  }
  try {
    const turn = await takeTurn({ model, name, messages, tools, mayCallTools, signal, prefix }, tell, spoke)
    const written = turn.text.length + JSON.stringify(turn.calls).length
    meter.add({ ...turn, read: lengthOf(messages) + extraCharacters, written })
    return turn
  } catch (error) {
    call.signal.throwIfAborted()
    throw late.aborted ? new AnswerFailure('provider-timeout') : error
  }
}
