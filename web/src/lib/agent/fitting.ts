import { dataOf, isData, isTool, type Message, type Part } from './message.ts'

/** What the service takes along with one question, and keeps of one conversation; less than its bounds, which count what is around it too. */
const sentAtMost = { messages: 64, partsOfMessage: 256, bytes: 120_000 }
const keptAtMost = { messages: 200, bytes: 480_000 }
/** Characters of a result that a model reads again with the next question. */
const mostOfResult = 2_000

/**
 * Messages as they are sent along with the next question: without what a model never reads, results cut as it reads them, and the latest
 * where a conversation is longer than a question may be. They begin with the person.
 */
export const sent = (messages: readonly Message[]) => {
  const read = messages.map(({ id, role, parts }) => ({
    id,
    role,
    parts: parts.flatMap(sentPart).slice(-sentAtMost.partsOfMessage),
  }))
  const latest = read.slice(Math.min(read.length - 1, firstFitting(read)))
  const first = latest.findIndex(({ role }) => role === 'user')
  return latest.slice(Math.max(0, first))
}

/** Messages as they are kept: where they are too long, the results of the oldest are cut, and the oldest go last. */
export const keepable = (messages: readonly Message[]): Message[] => {
  const kept = messages.slice(-keptAtMost.messages)
  let bytes = bytesOf(kept)
  for (const [index, message] of kept.entries()) {
    if (bytes <= keptAtMost.bytes) break
    const shorter = { ...message, parts: message.parts.map(withShortResult) }
    bytes -= bytesOf(message) - bytesOf(shorter)
    kept[index] = shorter
  }
  return bytes <= keptAtMost.bytes ? kept : kept.slice(Math.min(kept.length - 1, firstFitting(kept, keptAtMost)))
}

/** Where the latest messages begin that fit. */
const firstFitting = (messages: readonly unknown[], most: { messages: number; bytes: number } = sentAtMost): number => {
  let bytes = 0
  return (
    messages.findLastIndex(
      (message, index) => messages.length - index > most.messages || (bytes += bytesOf(message)) > most.bytes,
    ) + 1
  )
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

const sentPart = (part: Part): { type: string; [name: string]: unknown }[] => {
  if (isTool(part)) {
    const { type, toolCallId, state, input, output, errorText } = part
    return [{ type, toolCallId, state, input, output: shortened(output), errorText }]
  }
  if (part.type === 'reasoning') return []
  if (!isData(part)) return [{ ...part }]
  return dataOf([part], 'data-evidence').map(({ id }) => ({ type: 'data-evidence', data: { id } }))
}

const withShortResult = (part: Part): Part => (isTool(part) ? { ...part, output: shortened(part.output) } : part)

const shortened = (output: unknown): unknown => {
  const text = JSON.stringify(output) ?? ''
  return text.length <= mostOfResult ? output : `${text.slice(0, mostOfResult)}…`
}
