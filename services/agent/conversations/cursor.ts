import type { ConversationSummary } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'

/** Where a list goes on: behind the conversation of this time and id. */
interface Position {
  updatedAtMs: number
  id: string
}

/** The position that a cursor names. Throws `invalid` for one of another store; the contract has seen to the rest of its form. */
export const positionOf = (cursor: string): Position => {
  const [time = '', id = ''] = cursor.split('.')
  const updatedAtMs = Number(time)
  if (Number.isInteger(updatedAtMs)) return { updatedAtMs, id }
  throw new ServiceError('invalid', 'cursor must be the next of an answer', { details: { parameter: 'cursor' } })
}

/** What lists say of a conversation. */
export const summaryOf = <T extends ConversationSummary>({
  id,
  title,
  hostKey,
  model,
  messageCount,
  createdAtMs,
  updatedAtMs,
}: T): ConversationSummary => ({ id, title, hostKey, model, messageCount, createdAtMs, updatedAtMs })
