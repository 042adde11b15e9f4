import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import type { FinishReason } from './chunk.ts'
import { AnswerFailure } from './failure.ts'
import { functionCall } from './function-call.ts'
import { reminder } from './prompt.ts'
import { openSpeaker } from './speaker.ts'
import type { Talk } from './talk.ts'
import { carryOut } from './tool-calls.ts'
import type { Turn } from './turn.ts'

/** Steps in a row of which not one call can be read. */
const unusableAtMost = 3
/** Times that a model is reminded of a plan it left unfinished. */
const remindersAtMost = 1

/** What was said at the end. */
export interface Conversed {
  /** All that the model said to the person, of every step. */
  text: string
  finishReason: FinishReason
}

/** Lets the model speak and the tools answer in turn, until the model has no more questions. Throws `AnswerFailure`. */
export const converse = async (talk: Talk, opening: readonly ChatCompletionMessageParam[]): Promise<Conversed> => {
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
