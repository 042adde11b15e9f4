import type { UiMessage } from '#proto/conversations.ts'

/** The words of a message, without what tools said. */
export const wordsOf = ({ parts }: UiMessage): string =>
  parts
    .flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
    .trim()

/** A text in one line, cut to a length; undefined when nothing is left of it. */
export const oneLine = (text: string, length: number): string | undefined => {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  // By characters, so that none is cut in two.
  const letters = Array.from(line)
  if (letters.length <= length) return letters.join('') || undefined
  return `${letters.slice(0, length - 1).join('')}…`
}

const longestFirstWords = 50

/** What a new conversation without a title is called: how the person began. */
export const firstWords = (messages: readonly UiMessage[]): string =>
  messages
    .filter(({ role }) => role === 'user')
    .map((message) => oneLine(wordsOf(message), longestFirstWords))
    .find((line) => line !== undefined) ?? 'Conversation'
