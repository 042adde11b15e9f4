import type { ConversationSummary } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'

/** Where a list goes on: behind the conversation of this time and id. */
export interface Position {
  updatedAtMs: number
  id: string
}

/** A list of one more than was asked for, cut to what was asked for, and where it goes on. */
export const cutPage = <T extends Position>(found: T[], limit: number): { conversations: T[]; next: string | null } => {
  const conversations = found.slice(0, limit)
  const last = conversations.at(-1)
  return { conversations, next: last && found.length > limit ? `${last.updatedAtMs}.${last.id}` : null }
}

/** The position that a cursor names. Throws `invalid` for one of another store; the contract has seen to the rest of its form. */
export const positionOf = (cursor: string): Position => {
  const [time = '', id = ''] = cursor.split('.')
  const updatedAtMs = Number(time)
  if (Number.isInteger(updatedAtMs)) return { updatedAtMs, id }
  throw new ServiceError('invalid', 'cursor must be the next of an answer', { details: { parameter: 'cursor' } })
}

/** Those changed last first. */
export const lastFirst = (one: Position, other: Position): number =>
  other.updatedAtMs - one.updatedAtMs || Number(other.id > one.id) - Number(other.id < one.id)

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
