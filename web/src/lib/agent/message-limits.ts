import { getPartData, isDataPart, isToolPart, type Message, type MessagePart } from './message.ts'

/** Limits of the messages in a request and in a stored conversation. The body limits of the service are higher. */
const requestLimits = { messages: 64, partsOfMessage: 256, bytes: 120_000 }
const storageLimits = { messages: 200, bytes: 480_000 }
/** Maximum length of a shortened tool result, in characters. */
const maxResultLength = 2_000

/**
 * Trims messages for the next request: removes parts that models never read, shortens results, and keeps the newest
 * messages that fit. The first message is always from the user.
 */
export const trimMessagesForRequest = (messages: readonly Message[]) => {
  const read = messages.map(({ id, role, parts }) => ({
    id,
    role,
    parts: parts.flatMap(toRequestParts).slice(-requestLimits.partsOfMessage),
  }))
  const latest = read.slice(Math.min(read.length - 1, findFirstFittingIndex(read)))
  const first = latest.findIndex(({ role }) => role === 'user')
  return latest.slice(Math.max(0, first))
}

/** Trims messages for storage: shortens the results of the oldest messages first, then drops the oldest messages. */
export const trimMessagesForStorage = (messages: readonly Message[]): Message[] => {
  const stored = messages.slice(-storageLimits.messages)
  let bytes = bytesOf(stored)
  for (const [index, message] of stored.entries()) {
    if (bytes <= storageLimits.bytes) break
    const shorter = { ...message, parts: message.parts.map(withShortResult) }
    bytes -= bytesOf(message) - bytesOf(shorter)
    stored[index] = shorter
  }
  return bytes <= storageLimits.bytes
    ? stored
    : stored.slice(Math.min(stored.length - 1, findFirstFittingIndex(stored, storageLimits)))
}

/** Returns the lowest index from which all following messages together fit within the limits. */
const findFirstFittingIndex = (
  messages: readonly unknown[],
  max: { messages: number; bytes: number } = requestLimits,
): number => {
  let bytes = 0
  return (
    messages.findLastIndex(
      (message, index) => messages.length - index > max.messages || (bytes += bytesOf(message)) > max.bytes,
    ) + 1
  )
}

const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length

const toRequestParts = (part: MessagePart): { type: string; [name: string]: unknown }[] => {
  if (isToolPart(part)) {
    const { type, toolCallId, state, input, output, errorText } = part
    return [{ type, toolCallId, state, input, output: shortenResult(output), errorText }]
  }
  if (part.type === 'reasoning') return []
  if (!isDataPart(part)) return [{ ...part }]
  return getPartData([part], 'data-evidence').map(({ id }) => ({ type: 'data-evidence', data: { id } }))
}

const withShortResult = (part: MessagePart): MessagePart =>
  isToolPart(part) ? { ...part, output: shortenResult(part.output) } : part

const shortenResult = (output: unknown): unknown => {
  const text = JSON.stringify(output) ?? ''
  return text.length <= maxResultLength ? output : `${text.slice(0, maxResultLength)}…`
}
