import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { AgentFailure } from '#proto/agent-parts.ts'
import { beginningOf } from '#shared/text/cut.ts'
import { charactersOfToken } from './answer-limits.ts'
import { AnswerFailure } from './failure.ts'
import { reminder } from './prompt.ts'
import type { Talk } from './talk.ts'
import { takeTurn, type Turn } from './turn.ts'

/** Has the model take one step. Throws `AnswerFailure`, or the reason of the run's signal. */
type Speak = (messages: readonly ChatCompletionMessageParam[], step: Step) => Promise<Turn>

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

/** Characters that stay of a result which is compacted: its beginning says the most. */
const keptCharacters = 600
/** Results shorter than this stay as they are. */
const shortCharacters = 2_048
/** Part of what a model can read that a conversation may fill. */
const fillable = 0.7

/**
 * Makes a conversation fit what a model can read: results of tools lose all but their beginning, the oldest first; then earlier questions
 * go with their answers. Throws `context-too-long` when that does not suffice.
 */
export const compacted = (
  messages: readonly ChatCompletionMessageParam[],
  { contextTokens, extraCharacters }: { contextTokens: number; extraCharacters: number },
): ChatCompletionMessageParam[] => {
  const room = contextTokens * fillable * charactersOfToken - extraCharacters
  const result = [...messages]
  let length = lengthOf(result)
  for (const [index, message] of messages.entries()) {
    if (length <= room) break
    const shorter = shortened(message)
    length -= lengthOf([message]) - lengthOf([shorter])
    result[index] = shorter
  }
  while (length > room) length -= lengthOf(withoutOldest(result))
  return result
}

const shortened = (message: ChatCompletionMessageParam): ChatCompletionMessageParam => {
  if (message.role !== 'tool' || typeof message.content !== 'string' || message.content.length < shortCharacters) {
    return message
  }
  const content = `${beginningOf(message.content, keptCharacters)}…</data>\nThe rest was dropped to save room; ask again if it matters.`
  return { ...message, content }
}

/** Takes away the oldest question with its answer, which no call is left of then, and gives both. The question at hand stays. */
const withoutOldest = (messages: ChatCompletionMessageParam[]): ChatCompletionMessageParam[] => {
  const [first, next] = messages.flatMap((message, index) => (isOfPerson(message) ? [index] : []))
  if (first === undefined || next === undefined) throw new AnswerFailure('context-too-long')
  return messages.splice(first, next - first)
}

const isOfPerson = ({ role, content }: ChatCompletionMessageParam): boolean =>
  role === 'user' && !(typeof content === 'string' && content.startsWith(reminder))

/** Characters of a conversation, about as a model reads it. */
const lengthOf = (messages: readonly ChatCompletionMessageParam[]): number => JSON.stringify(messages).length
