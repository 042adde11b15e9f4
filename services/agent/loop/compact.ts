import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { beginningOf } from '#shared/text/cut.ts'
import { AnswerFailure } from './failure.ts'
import { charactersOfToken } from './meter.ts'
import { reminder } from './prompt.ts'

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
export const lengthOf = (messages: readonly ChatCompletionMessageParam[]): number => JSON.stringify(messages).length
