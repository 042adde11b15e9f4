import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import type { conversationMethods } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { pruneMethods } from '#proto/prune.ts'
import type { Conversations } from './open.ts'

/** The part of the contract about conversations: the owner is whoever calls, and nothing that a caller could say. */
export const conversationHandlers = (
  conversations: Conversations,
): Handlers<Service<typeof conversationMethods & typeof pruneMethods>> => ({
  conversationBackend: async () => ({
    backend: conversations.backend,
    supportsAiEnrichment: conversations.supportsAiEnrichment(),
  }),
  conversations: (place, call) => conversations.list(ownerOf(call), place),
  conversation: ({ id }, call) => conversations.get(ownerOf(call), id),
  exportConversations: ({ cursor }, call) => conversations.export(ownerOf(call), cursor),
  keepConversation: (written, call) => conversations.keep(ownerOf(call), written, call),
  removeConversation: async ({ id }, call) => {
    await conversations.remove(ownerOf(call), id)
    return {}
  },
  removeConversations: async (_input, call) => ({ removed: await conversations.removeAll(ownerOf(call)) }),
  followUps: async ({ id }, call) => ({ questions: await conversations.followUps(ownerOf(call), id, call) }),
  prune: async () => ({ removed: { conversations: await conversations.prune() } }),
})

/** A signed-in person. Keys and strangers own nothing: their history lives in the browser. */
const ownerOf = ({ identity: { kind, subject } }: Call): string => {
  if (kind === 'user') return subject
  throw new ServiceError('unauthenticated', 'sign in to keep conversations')
}
