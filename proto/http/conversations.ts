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

/** `GET /api/v1/conversations/backend`, literally. `browser` where the server keeps none of this caller. */
export const ConversationBackendAnswer = z.object({
  backend: z.enum([...conversationBackends, 'browser']),
  supportsAiEnrichment: z.boolean(),
})

const host = {
  /** Position in the list of hosts; null when it is about no host, or about one that is not there any more. */
  hostId: z.int().nullable(),
  host: z.string().nullable(),
}

/** A conversation as lists tell it. */
export const ShownSummary = ConversationSummary.omit({ hostKey: true }).extend(host)
export type ShownSummary = z.infer<typeof ShownSummary>
/** A conversation with its messages. */
export const ShownConversation = Conversation.omit({ hostKey: true }).extend(host)
export type ShownConversation = z.infer<typeof ShownConversation>

/** `GET /api/v1/conversations`; `cursor` is the `next` of the page before. */
export const ConversationsQuery = z.strictObject({
  limit: whole(1, 100).default(20),
  cursor: text.pipe(ConversationCursor).optional(),
})
/** Its answer; `next` is null when nothing follows. */
export const ConversationsAnswer = answer(
  z.array(ShownSummary),
  z.object({ count: z.int(), next: z.string().nullable() }),
)

/** `{id}` of a conversation. */
export const ConversationPath = z.object({ id: ConversationId })
/** `GET /api/v1/conversations/{id}` */
export const ConversationAnswer = answer(ShownConversation, z.object({}))

/** `PUT /api/v1/conversations/{id}`: the whole of it, of 512 KiB at most. Without a title or evidence, what is kept of them stays. */
export const KeepConversationRequest = z.strictObject({
  title: WrittenConversation.shape.title,
  hostId: bodyHostId.nullable().default(null),
  model: ConversationModel.nullable().default(null),
  messages: WrittenConversation.shape.messages,
  evidence: WrittenConversation.shape.evidence,
})
/** Its answer. */
export const KeepConversationAnswer = answer(ShownSummary, z.object({ created: z.boolean() }))

/** `DELETE /api/v1/conversations/{id}` and `DELETE /api/v1/conversations`: how many were removed. */
export const RemoveConversationsAnswer = answer(z.object({ removed: z.int() }), z.object({}))

/** `GET /api/v1/conversations/{id}/follow-ups` */
export const FollowUpsAnswer = answer(z.object({ questions: z.array(z.string()) }), z.object({}))
