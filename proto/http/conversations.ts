import { z } from 'zod'
import {
  Conversation,
  conversationBackends,
  ConversationCursor,
  ConversationId,
  ConversationModel,
  ConversationSummary,
  WrittenConversation,
} from '../conversations.ts'
import { answer } from './answer.ts'
import { bodyHostId, text, whole } from './parameters.ts'

/** `GET /api/v1/conversations/backend`, exactly as specified. `browser` if the server stores none of this caller. */
export const ConversationBackendResponse = z.object({
  backend: z.enum([...conversationBackends, 'browser']),
  supportsAiEnrichment: z.boolean(),
})

const host = {
  /** Position in the host list; null without a host, or if it is no longer configured. */
  hostId: z.int().nullable(),
  host: z.string().nullable(),
}

/** A conversation as lists show it. */
export const ShownSummary = ConversationSummary.omit({ hostKey: true }).extend(host)
export type ShownSummary = z.infer<typeof ShownSummary>
/** A conversation with its messages. */
export const ShownConversation = Conversation.omit({ hostKey: true }).extend(host)
export type ShownConversation = z.infer<typeof ShownConversation>

/** `GET /api/v1/conversations`; `cursor` is the `next` of the previous page. */
export const ConversationsQuery = z.strictObject({
  limit: whole(1, 100).default(20),
  cursor: text.pipe(ConversationCursor).optional(),
})
/** The response; `next` is null on the last page. */
export const ConversationsResponse = answer(
  z.array(ShownSummary),
  z.object({ count: z.int(), next: z.string().nullable() }),
)

/** `{id}` of a conversation. */
export const ConversationPath = z.object({ id: ConversationId })
/** `GET /api/v1/conversations/{id}` */
export const ConversationResponse = answer(ShownConversation, z.object({}))

/**
 * `PUT /api/v1/conversations/{id}`: the complete conversation, at most 512 KiB. An absent title or absent evidence is
 * unchanged.
 */
export const KeepConversationRequest = z.strictObject({
  title: WrittenConversation.shape.title,
  hostId: bodyHostId.nullable().default(null),
  model: ConversationModel.nullable().default(null),
  messages: WrittenConversation.shape.messages,
  evidence: WrittenConversation.shape.evidence,
})
/** The response. */
export const StoreConversationResponse = answer(ShownSummary, z.object({ created: z.boolean() }))

/** `DELETE /api/v1/conversations/{id}` and `DELETE /api/v1/conversations`: the number of removed conversations. */
export const RemoveConversationsResponse = answer(z.object({ removed: z.int() }), z.object({}))

/** `GET /api/v1/conversations/{id}/follow-ups` */
export const FollowUpsResponse = answer(z.object({ questions: z.array(z.string()) }), z.object({}))
