import type { ConversationSummary } from '#proto/conversations.ts'

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

/** The position that a cursor names; the contract has seen to its form. */
export const positionOf = (cursor: string): Position => {
  const [time = '', id = ''] = cursor.split('.')
  return { updatedAtMs: Number(time), id }
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
