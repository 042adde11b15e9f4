import type { ConversationSummary } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'

/** The last conversation of the previous page. */
interface Position {
  updatedAtMs: number
  id: string
}

/** Parses a cursor. Throws `invalid` for a cursor of another store; the contract validates the rest of the format. */
export const positionOf = (cursor: string): Position => {
  const [time = '', id = ''] = cursor.split('.')
  const updatedAtMs = Number(time)
  if (Number.isInteger(updatedAtMs)) return { updatedAtMs, id }
  throw new ServiceError('invalid', 'cursor must be the next of a response', { details: { parameter: 'cursor' } })
}

/** Returns the list entry of a conversation. */
export const summaryOf = <T extends ConversationSummary>({
  id,
  title,
  hostKey,
  model,
  messageCount,
  createdAtMs,
  updatedAtMs,
}: T): ConversationSummary => ({ id, title, hostKey, model, messageCount, createdAtMs, updatedAtMs })
