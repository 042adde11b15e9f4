import { queryOptions } from '@tanstack/svelte-query'
import { call } from '#lib/api/call.ts'
import { RequestFailure } from '#lib/api/failure.ts'
import { readStoredJson, writeStoredText } from '#lib/state/browser-storage.ts'
import { trimMessagesForStorage } from './message-limits.ts'
import { getMessageText, type Message } from './message.ts'

/** A conversation in the list, without its messages. */
export interface ConversationListEntry {
  id: string
  title: string
  updatedAtMs: number
}

export interface Conversation extends ConversationListEntry {
  hostId: number | null
  model: string | null
  messages: Message[]
}

/** Storage of conversations. */
export interface ConversationStorage {
  list: () => Promise<readonly ConversationListEntry[]>
  /** Loads a conversation with its messages; resolves to null for an unknown id. */
  load: (id: string) => Promise<Conversation | null>
  save: (conversation: Omit<Conversation, 'title' | 'updatedAtMs'>) => Promise<void>
  remove: (id: string) => Promise<void>
}

/** Query key prefix of the conversation list. */
export const conversationsKey = ['conversations'] as const

export const conversationBackendQuery = () =>
  queryOptions({
    queryKey: ['conversation-backend'],
    queryFn: ({ signal }) => call('GET /api/v1/conversations/backend', { signal }),
    staleTime: Infinity,
  })

/** Stores conversations on the server, for the signed-in user. */
export const serverConversations: ConversationStorage = {
  list: async () => (await call('GET /api/v1/conversations', { query: { limit: 50 } })).data,
  load: async (id) => {
    try {
      const { data } = await call('GET /api/v1/conversations/{id}', { path: { id } })
      // Only this client stores messages, so stored messages have the type `Message`.
      return { ...data, messages: data.messages as Message[] }
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 404) return null
      throw error
    }
  },
  save: async ({ id, hostId, model, messages }) => {
    const body = {
      hostId: hostId !== null && hostId >= 0 ? hostId : null,
      model,
      messages: trimMessagesForStorage(messages).map(({ parts, ...each }) => ({
        ...each,
        parts: parts.map((part) => ({ ...part })),
      })),
    }
    await call('PUT /api/v1/conversations/{id}', { path: { id }, body })
  },
  remove: async (id) => {
    await call('DELETE /api/v1/conversations/{id}', { path: { id } })
  },
}

const storageKey = 'conversations'
const maxConversations = 30
/** Maximum characters of stored conversations. Browsers limit local storage to about five million per origin. */
const maxCharacters = 2_000_000
const maxTitleLength = 80

/** Stores conversations in this browser only. */
export const browserConversations: ConversationStorage = {
  list: async () => readConversations(),
  load: async (id) => readConversations().find((each) => each.id === id) ?? null,
  save: async (conversation) => {
    const stored = { ...conversation, title: deriveConversationTitle(conversation.messages), updatedAtMs: Date.now() }
    writeConversations([stored, ...readConversations().filter(({ id }) => id !== stored.id)])
  },
  remove: async (id) => writeConversations(readConversations().filter((each) => each.id !== id)),
}

/** Stores as many of the newest conversations as fit into local storage. */
const writeConversations = (conversations: readonly Conversation[]): void => {
  let characters = 0
  const written = conversations
    .slice(0, maxConversations)
    .filter((each) => (characters += JSON.stringify(each).length) <= maxCharacters)
  writeStoredText(storageKey, JSON.stringify(written))
}

const readConversations = (): Conversation[] => {
  const stored = readStoredJson(storageKey)
  return Array.isArray(stored) ? stored.filter(isConversation) : []
}

const isConversation = (value: unknown): value is Conversation =>
  typeof value === 'object' &&
  value !== null &&
  ['id', 'title', 'updatedAtMs'].every((name) => name in value) &&
  'messages' in value &&
  Array.isArray(value.messages)

/** Returns the title of a conversation: the beginning of its first message. */
export const deriveConversationTitle = (messages: readonly Message[]): string => {
  const words = messages[0] ? getMessageText(messages[0]).replaceAll(/\s+/g, ' ').trim() : ''
  if (words === '') return 'Conversation'
  return words.length > maxTitleLength ? `${words.slice(0, maxTitleLength)}…` : words
}
