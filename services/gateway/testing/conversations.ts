import type { Handlers, Service } from '#proto/contract.ts'
import type { Conversation, conversationMethods } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { GoodRequest } from './auth-requests.ts'

const conversation: Conversation = {
  id: 'c1',
  title: 'Slow merges',
  hostKey: 'logs',
  model: 'gateway_a:some/model',
  messageCount: 1,
  createdAtMs: 1_790_000_000_000,
  updatedAtMs: 1_790_000_000_001,
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Why are merges slow?' }] }],
  evidence: [],
}
const { messages: _messages, evidence: _evidence, ...summary } = conversation
const removedHost = { ...conversation, id: 'c2', hostKey: 'a host that is gone' }

const require = (id: string): void => {
  if (id !== conversation.id) throw new ServiceError('not-found', 'no such conversation among yours')
}

/** A person with one conversation, and in the export another about a host that is gone. */
export const fakeConversations: Handlers<Service<typeof conversationMethods>> = {
  conversationBackend: async () => ({ backend: 'convstore', supportsAiEnrichment: true }),
  conversations: async ({ cursor }) => ({ conversations: [summary], next: cursor === undefined ? '1.c1' : null }),
  conversation: async ({ id }) => {
    require(id)
    return conversation
  },
  exportConversations: async ({ cursor }) =>
    cursor === undefined
      ? { conversations: [conversation], next: '1.c1' }
      : { conversations: [removedHost], next: null },
  keepConversation: async ({ id, hostKey, title = summary.title }) => ({
    created: id !== conversation.id,
    conversation: { ...summary, id, hostKey, title },
  }),
  removeConversation: async ({ id }) => {
    require(id)
    return {}
  },
  removeConversations: async () => ({ removed: 1 }),
  followUps: async ({ id }) => {
    require(id)
    return { questions: ['Which table is it?'] }
  },
}

const base = '/api/v1/conversations'

/** A good request of every route about conversations. */
export const conversationRequests: Readonly<Record<string, GoodRequest>> = {
  [`GET ${base}/backend`]: { url: `${base}/backend` },
  [`GET ${base}/export`]: { url: `${base}/export` },
  [`GET ${base}`]: { url: `${base}?limit=5&cursor=1.c1` },
  [`DELETE ${base}`]: { url: base },
  [`GET ${base}/{id}`]: { url: `${base}/c1` },
  [`PUT ${base}/{id}`]: { url: `${base}/c1`, body: { hostId: 1, messages: conversation.messages } },
  [`DELETE ${base}/{id}`]: { url: `${base}/c1` },
  [`GET ${base}/{id}/follow-ups`]: { url: `${base}/c1/follow-ups` },
}
