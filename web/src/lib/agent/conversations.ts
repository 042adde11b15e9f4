import { queryOptions } from '@tanstack/svelte-query'
import type { z } from 'zod'
import type {
  ConversationAnswer,
  ConversationBackendAnswer,
  ConversationsAnswer,
  KeepConversationAnswer,
} from '#proto/http/conversations.ts'
import { RequestFailure } from '#lib/api/failure.ts'
import { requestJson } from '#lib/api/request.ts'
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

const path = '/api/v1/conversations'

/** Every query about the list of them begins with this key. */
export const conversationsKey = ['conversations'] as const

export const backendQuery = () =>
  queryOptions({
    queryKey: ['conversation-backend'],
    queryFn: ({ signal }) => requestJson<z.infer<typeof ConversationBackendAnswer>>(`${path}/backend`, { signal }),
    staleTime: Infinity,
  })

/** On the server, for whoever is signed in. */
export const serverConversations: Conversations = {
  list: async () => (await requestJson<z.infer<typeof ConversationsAnswer>>(`${path}?limit=50`)).data,
  load: async (id) => {
    try {
      const { data } = await requestJson<z.infer<typeof ConversationAnswer>>(`${path}/${encodeURIComponent(id)}`)
      // The messages are those that this page has kept there.
      return { ...data, messages: data.messages as Message[] }
    } catch (error) {
      if (error instanceof RequestFailure && error.status === 404) return null
      throw error
    }
  },
  keep: async ({ id, hostId, model, messages }) => {
    const body = { hostId: hostId !== null && hostId >= 0 ? hostId : null, model, messages: keepable(messages) }
    const options = { body, method: 'PUT' } as const
    await requestJson<z.infer<typeof KeepConversationAnswer>>(`${path}/${encodeURIComponent(id)}`, options)
  },
  remove: async (id) => {
    await requestJson(`${path}/${encodeURIComponent(id)}`, { method: 'DELETE' })
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
