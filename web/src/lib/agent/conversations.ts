import { queryOptions } from '@tanstack/svelte-query'
import { call } from '#lib/api/call.ts'
import { RequestFailure } from '#lib/api/failure.ts'
import { readStoredJson, writeStored } from '#lib/state/stored.ts'
import { keepable } from './fitting.ts'
import { textOf, type Message } from './message.ts'

/** A conversation as lists tell it. */
export interface Summary {
  id: string
  title: string
  updatedAtMs: number
}

export interface Conversation extends Summary {
  hostId: number | null
  model: string | null
  messages: Message[]
}

/** Where conversations are kept. */
export interface Conversations {
  list: () => Promise<readonly Summary[]>
  /** Null for one that there is not. */
  load: (id: string) => Promise<Conversation | null>
  keep: (conversation: Omit<Conversation, 'title' | 'updatedAtMs'>) => Promise<void>
  remove: (id: string) => Promise<void>
}

/** Every query about the list of them begins with this key. */
export const conversationsKey = ['conversations'] as const

export const backendQuery = () =>
  queryOptions({
    queryKey: ['conversation-backend'],
    queryFn: ({ signal }) => call('GET /api/v1/conversations/backend', { signal }),
    staleTime: Infinity,
  })

/** On the server, for whoever is signed in. */
export const serverConversations: Conversations = {
  list: async () => (await call('GET /api/v1/conversations', { query: { limit: 50 } })).data,
  load: async (id) => {
    try {
      const { data } = await call('GET /api/v1/conversations/{id}', { path: { id } })
      // The messages are those that this page has kept there.
      return { ...data, messages: data.messages as Message[] }
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 404) return null
      throw error
    }
  },
  keep: async ({ id, hostId, model, messages }) => {
    const body = {
      hostId: hostId !== null && hostId >= 0 ? hostId : null,
      model,
      messages: keepable(messages).map(({ parts, ...each }) => ({
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

const storedName = 'conversations'
const mostKept = 30
/** The browser gives a page some five million characters in all. */
const mostCharacters = 2_000_000
const longestTitle = 80

/** In this browser alone. */
export const browserConversations: Conversations = {
  list: async () => readKept(),
  load: async (id) => readKept().find((each) => each.id === id) ?? null,
  keep: async (conversation) => {
    const kept = { ...conversation, title: titleOf(conversation.messages), updatedAtMs: Date.now() }
    writeKept([kept, ...readKept().filter(({ id }) => id !== kept.id)])
  },
  remove: async (id) => writeKept(readKept().filter((each) => each.id !== id)),
}

/** As many of the latest as there is room for. */
const writeKept = (conversations: readonly Conversation[]): void => {
  let characters = 0
  const written = conversations
    .slice(0, mostKept)
    .filter((each) => (characters += JSON.stringify(each).length) <= mostCharacters)
  writeStored(storedName, JSON.stringify(written))
}

const readKept = (): Conversation[] => {
  const kept = readStoredJson(storedName)
  return Array.isArray(kept) ? kept.filter(isConversation) : []
}

const isConversation = (given: unknown): given is Conversation =>
  typeof given === 'object' &&
  given !== null &&
  ['id', 'title', 'updatedAtMs'].every((name) => name in given) &&
  'messages' in given &&
  Array.isArray(given.messages)

/** What a conversation is called: the first words of it. */
export const titleOf = (messages: readonly Message[]): string => {
  const words = messages[0] ? textOf(messages[0]).replaceAll(/\s+/g, ' ').trim() : ''
  if (words === '') return 'Conversation'
  return words.length > longestTitle ? `${words.slice(0, longestTitle)}…` : words
}
