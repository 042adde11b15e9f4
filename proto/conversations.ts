import { z } from 'zod'
import { atMostAsJson, boundedJson } from './bounded-json.ts'
import { rpc } from './contract.ts'
import { NumberedEvidence } from './evidence.ts'
import { HostKey } from './host.ts'

/** Sizes of a conversation. */
export const conversationBounds = {
  messages: 200,
  partsOfMessage: 256,
  /** Of one part of a message, or of what a message says besides, in characters as JSON. */
  part: 256 * 1024,
  evidence: 500,
  /** Of messages and evidence together, in bytes as JSON. */
  bytes: 512 * 1024,
  title: 200,
} as const

const bounds = conversationBounds
const part = atMostAsJson(bounds.part)

/** Chosen by the client, as the AI SDK does. It means a conversation of its owner alone: others have their own of the same id. */
export const ConversationId = z
  .string()
  .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, dashes and underscores')
  .refine((id) => id !== 'backend' && id !== 'export', 'must not be a word that paths need')

/** One line in which people know a conversation again. */
export const ConversationTitle = z
  .string()
  .regex(/^\P{Cc}*$/u, 'must be one line')
  .trim()
  .min(1, 'must not be empty')
  .max(bounds.title, `must not be longer than ${bounds.title} characters`)

/** `provider:model`, as it was asked for. */
export const ConversationModel = z
  .string()
  .max(256)
  .regex(/^\P{Cc}*$/u, 'must not contain control characters')

/** A message as the AI SDK writes it. What parts say besides their type is the client's. */
export const UiMessage = z.object({
  id: z.string().min(1).max(128),
  role: z.enum(['system', 'user', 'assistant']),
  metadata: boundedJson(bounds.part).optional(),
  parts: z
    .array(z.looseObject({ type: z.string().min(1).max(128) }).refine(part.check, part.message))
    .max(bounds.partsOfMessage),
})
export type UiMessage = z.infer<typeof UiMessage>

/** What lists say of a conversation. Instants are epoch milliseconds. */
export const ConversationSummary = z.object({
  id: ConversationId,
  title: z.string(),
  /** The host that it is about; null when it is about none in particular. */
  hostKey: HostKey.nullable(),
  /** The one that answered last; null when nobody said. */
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

/** A conversation, with the statements that stand behind what is claimed in it. */
export const Conversation = ConversationSummary.extend({ messages, evidence })
export type Conversation = z.infer<typeof Conversation>

/** A conversation as its owner hands it in, whole. */
export const WrittenConversation = z.object({
  id: ConversationId,
  /** Where there is none the title stays; a new conversation is called by its first words. */
  title: ConversationTitle.optional(),
  hostKey: HostKey.nullable(),
  model: ConversationModel.nullable(),
  messages,
  /** Where there is none the evidence stays. */
  evidence: evidence.optional(),
})
export type WrittenConversation = z.infer<typeof WrittenConversation>

/** Stores of conversations that the agent has. */
export const conversationBackends = ['convstore', 'edgesql', 'postgres', 'memory'] as const
/** One of them. */
export const ConversationBackend = z.enum(conversationBackends)
export type ConversationBackend = z.infer<typeof ConversationBackend>

/** Where a list goes on: as the answer before said. */
export const ConversationCursor = z.string().regex(/^~?\d{1,15}(\.[\w-]{1,64})?$/, 'must be the next of an answer')
const next = ConversationCursor.nullable()

const common = { callers: ['gateway'], feature: 'AGENT' } as const
const reading = { ...common, safe: true } as const
const ofOne = z.object({ id: ConversationId })

/** Methods of `agent` about conversations, each of whoever calls: nobody reaches those of somebody else. */
export const conversationMethods = {
  conversationBackend: rpc({
    doc: 'Where conversations are kept, and whether titles and follow-ups are generated.',
    ...reading,
    input: z.object({}),
    output: z.object({ backend: ConversationBackend, supportsAiEnrichment: z.boolean() }),
  }),
  conversations: rpc({
    doc: 'Conversations of the caller, those changed last first.',
    ...reading,
    input: z.object({ limit: z.int().min(1).max(100).default(20), cursor: ConversationCursor.optional() }),
    output: z.object({ conversations: z.array(ConversationSummary), next }),
  }),
  conversation: rpc({
    doc: 'One conversation of the caller, with its messages.',
    ...reading,
    input: ofOne,
    output: Conversation,
  }),
  exportConversations: rpc({
    doc: 'Some conversations of the caller with their messages; called again with `next` until that is null, all of them.',
    ...reading,
    input: z.object({ cursor: ConversationCursor.optional() }),
    output: z.object({ conversations: z.array(Conversation), next }),
  }),
  keepConversation: rpc({
    doc: 'Keeps a conversation of the caller in place of the one of the same id, if there is one.',
    ...common,
    input: WrittenConversation,
    output: z.object({ created: z.boolean(), conversation: ConversationSummary }),
  }),
  removeConversation: rpc({
    doc: 'Removes one conversation of the caller.',
    ...common,
    input: ofOne,
    output: z.object({}),
  }),
  removeConversations: rpc({
    doc: 'Removes every conversation of the caller; says how many.',
    ...common,
    input: z.object({}),
    output: z.object({ removed: z.int().min(0) }),
  }),
  followUps: rpc({
    doc: 'Questions that the caller may want to ask next; `not-implemented` where none are generated.',
    ...common,
    input: ofOne,
    output: z.object({ questions: z.array(z.string().max(300)).max(5) }),
  }),
}
