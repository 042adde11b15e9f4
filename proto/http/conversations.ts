import { z } from 'zod'
import {
  Conversation,
  conversationBackends,
  ConversationCursor,
  ConversationId,
  ConversationModel,
  ConversationSummary,
  ConversationInput,
} from '../conversations.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId, createCursorParameter, createIntegerParameter, deprecated, textParameter } from './parameters.ts'

/**
 * Response of `GET /api/v1/conversations/backend`, exactly as specified. `browser` means that the server stores no
 * conversations of the caller.
 */
export const ConversationBackendResponse = z.object({
  backend: z.enum([...conversationBackends, 'browser']),
  supportsAiEnrichment: z.boolean(),
})

const host = {
  /** Position in the host list; null without a host, or if it is no longer configured. */
  hostId: z.int().nullable(),
  host: z.string().nullable(),
}

/** A conversation in a list of its owner. */
export const ConversationSummaryView = ConversationSummary.omit({ hostKey: true }).extend(host)
export type ConversationSummaryView = z.infer<typeof ConversationSummaryView>
/** A conversation with its messages, as its owner sees it. */
export const ConversationView = Conversation.omit({ hostKey: true }).extend(host)
export type ConversationView = z.infer<typeof ConversationView>

/** Query parameters of `GET /api/v1/conversations`. */
export const ConversationsQuery = z.strictObject({
  limit: createIntegerParameter(1, 100).default(20),
  cursor: createCursorParameter(textParameter.pipe(ConversationCursor)).optional(),
})
/** Response of `GET /api/v1/conversations`; `nextCursor` is null on the last page. */
export const ConversationsResponse = createResponseSchema(
  z.array(ConversationSummaryView),
  z.object({ count: z.int(), next: z.string().nullable().meta(deprecated), nextCursor: z.string().nullable() }),
)

/** Path parameters of requests about one conversation. */
export const ConversationPath = z.object({ id: ConversationId })
/** Response of `GET /api/v1/conversations/{id}`. */
export const ConversationResponse = createResponseSchema(ConversationView, z.object({}))

/**
 * Body of `PUT /api/v1/conversations/{id}`: the complete conversation, at most 512 KiB. An absent title or absent
 * evidence remains unchanged.
 */
export const StoreConversationRequest = z.strictObject({
  title: ConversationInput.shape.title,
  hostId: bodyHostId.nullable().default(null),
  model: ConversationModel.nullable().default(null),
  messages: ConversationInput.shape.messages,
  evidence: ConversationInput.shape.evidence,
})
/** Response of `PUT /api/v1/conversations/{id}`. */
export const StoreConversationResponse = createResponseSchema(
  ConversationSummaryView,
  z.object({ created: z.boolean() }),
)

/** Response of `DELETE /api/v1/conversations` and `DELETE /api/v1/conversations/{id}`: the number of removed ones. */
export const RemoveConversationsResponse = createResponseSchema(z.object({ removed: z.int() }), z.object({}))

/** Response of `GET /api/v1/conversations/{id}/follow-ups`. */
export const FollowUpsResponse = createResponseSchema(z.object({ questions: z.array(z.string()) }), z.object({}))
