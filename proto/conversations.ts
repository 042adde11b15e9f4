import { z } from 'zod'
import { limitJsonSize, createBoundedJsonSchema } from './bounded-json.ts'
import { rpc } from './contract.ts'
import { NumberedEvidence } from './evidence.ts'
import { HostKey } from './host.ts'

/** Size limits of a conversation. */
export const conversationLimits = {
  messages: 200,
  partsOfMessage: 256,
  /** Maximum size of a message part, message metadata or evidence parameters, in characters of JSON. */
  part: 256 * 1024,
  evidence: 500,
  /** Maximum size of messages and evidence together, in bytes of JSON. */
  bytes: 512 * 1024,
  title: 200,
} as const

const bounds = conversationLimits
const part = limitJsonSize(bounds.part)

/** Id of a conversation, chosen by the client as in the AI SDK. Ids are unique per owner only. */
export const ConversationId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes or underscores')
  .refine((id) => id !== 'backend' && id !== 'export', 'must not be "backend" or "export", which are reserved')

/** Title of a conversation, on one line. */
export const ConversationTitle = z
  .string()
  .regex(/^\P{Cc}*$/u, 'must be one line')
  .trim()
  .min(1, 'must not be empty')
  .max(bounds.title, `must not be longer than ${bounds.title} characters`)

/** The requested model, as `provider:model`. */
export const ConversationModel = z
  .string()
  .max(256)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')

/** A message in the format of the AI SDK. Part fields other than the type are not validated. */
export const UiMessage = z.object({
  id: z.string().min(1).max(128),
  role: z.enum(['system', 'user', 'assistant']),
  metadata: createBoundedJsonSchema(bounds.part).optional(),
  parts: z
    .array(z.looseObject({ type: z.string().min(1).max(128) }).refine(part.check, part.message))
    .max(bounds.partsOfMessage),
})
export type UiMessage = z.infer<typeof UiMessage>

/** A conversation in lists. Instants are epoch milliseconds. */
export const ConversationSummary = z.object({
  id: ConversationId,
  title: z.string(),
  /** The host of the conversation; null without a specific host. */
  hostKey: HostKey.nullable(),
  /** The model of the last response; null if unknown. */
  model: ConversationModel.nullable(),
  messageCount: z.int().min(0),
  createdAtMs: z.int().min(0),
  updatedAtMs: z.int().min(0),
})
export type ConversationSummary = z.infer<typeof ConversationSummary>

const messages = z.array(UiMessage).min(1).max(bounds.messages)
const evidence = z
  .array(NumberedEvidence.extend({ parameters: NumberedEvidence.shape.parameters.refine(part.check, part.message) }))
  .max(bounds.evidence)

/** A conversation with its messages and the evidence for its claims. */
export const Conversation = ConversationSummary.extend({ messages, evidence })
export type Conversation = z.infer<typeof Conversation>

/** A complete conversation as sent by its owner. */
export const ConversationInput = z.object({
  id: ConversationId,
  /** If absent, the title is unchanged; that of a new conversation is the start of the user's first message. */
  title: ConversationTitle.optional(),
  hostKey: HostKey.nullable(),
  model: ConversationModel.nullable(),
  messages,
  /** If absent, the evidence is unchanged. */
  evidence: evidence.optional(),
})
export type ConversationInput = z.infer<typeof ConversationInput>

/** Databases that can store conversations, or `memory`. */
export const conversationBackends = ['convstore', 'edgesql', 'postgres', 'memory'] as const
/** The store of conversations that is in use. */
export const ConversationBackend = z.enum(conversationBackends)
export type ConversationBackend = z.infer<typeof ConversationBackend>

/** Cursor of the next page, from the previous response. */
export const ConversationCursor = z
  .string()
  .regex(/^~?\d{1,15}(\.[\w-]{1,64})?$/, 'must be the `next` of an earlier response')
const next = ConversationCursor.nullable()

const common = { callers: ['gateway'], feature: 'AGENT' } as const
const readMethodTraits = { ...common, safe: true } as const
const conversationKey = z.object({ id: ConversationId })

/** Methods of `agent` for conversations. Callers can access only their own. */
export const conversationMethods = {
  conversationBackend: rpc({
    doc: 'Returns the store of conversations, and whether titles and follow-ups are generated.',
    ...readMethodTraits,
    input: z.object({}),
    output: z.object({ backend: ConversationBackend, supportsAiEnrichment: z.boolean() }),
  }),
  conversations: rpc({
    doc: 'Lists the conversations of the caller, last changed first.',
    ...readMethodTraits,
    input: z.object({ limit: z.int().min(1).max(100).default(20), cursor: ConversationCursor.optional() }),
    output: z.object({ conversations: z.array(ConversationSummary), next }),
  }),
  conversation: rpc({
    doc: 'Returns one conversation of the caller with its messages.',
    ...readMethodTraits,
    input: conversationKey,
    output: Conversation,
  }),
  exportConversations: rpc({
    doc: 'Returns a page of conversations of the caller with their messages; `next` is null on the last page.',
    ...readMethodTraits,
    input: z.object({ cursor: ConversationCursor.optional() }),
    output: z.object({ conversations: z.array(Conversation), next }),
  }),
  keepConversation: rpc({
    doc: 'Stores a conversation of the caller and replaces one with the same id.',
    ...common,
    input: ConversationInput,
    output: z.object({ created: z.boolean(), conversation: ConversationSummary }),
  }),
  removeConversation: rpc({
    doc: 'Removes one conversation of the caller.',
    ...common,
    input: conversationKey,
    output: z.object({}),
  }),
  removeConversations: rpc({
    doc: 'Removes all conversations of the caller and returns their number.',
    ...common,
    input: z.object({}),
    output: z.object({ removed: z.int().min(0) }),
  }),
  followUps: rpc({
    doc: 'Returns suggestions for follow-up questions; `not-implemented` if none are generated.',
    ...common,
    input: conversationKey,
    output: z.object({ questions: z.array(z.string().max(300)).max(5) }),
  }),
}
