import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { beginningOf } from '#shared/cut.ts'
import { AnswerFailure } from './failure.ts'
import { charactersOfToken } from './meter.ts'

/** Characters that stay of a result which is compacted: its beginning says the most. */
const keptCharacters = 600
/** Results shorter than this stay as they are. */
const shortCharacters = 2_048
/** Part of what a model can read that a conversation may fill. */
const fillable = 0.7
/** Results of the last steps stay whole, since the model is at work with them. */
const wholeResults = 6

/**
 * Makes a conversation fit what a model can read: old results of tools lose all but their beginning, the oldest first. Throws
 * `context-too-long` when that does not suffice.
 */
export const compacted = (
  messages: readonly ChatCompletionMessageParam[],
  { contextTokens, extraCharacters }: { contextTokens: number; extraCharacters: number },
): ChatCompletionMessageParam[] => {
  const room = contextTokens * fillable * charactersOfToken - extraCharacters
  const result = [...messages]
  let length = lengthOf(result)
  const results = messages.flatMap(({ role }, index) => (role === 'tool' ? [index] : []))
  for (const index of results.slice(0, -wholeResults)) {
    if (length <= room) break
    const message = result[index]
    if (message?.role !== 'tool' || typeof message.content !== 'string' || message.content.length < shortCharacters)
      continue
    const content = `${beginningOf(message.content, keptCharacters)}…</data>\nThe rest was dropped to save room; ask again if it matters.`
    length -= message.content.length - content.length
    result[index] = { ...message, content }
  }
  if (length > room) throw new AnswerFailure('context-too-long')
  return result
}

/** Characters of a conversation, about as a model reads it. */
export const lengthOf = (messages: readonly ChatCompletionMessageParam[]): number => JSON.stringify(messages).length
