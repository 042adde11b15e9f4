import { z } from 'zod'
import { Conversation, ConversationSummary } from '#proto/conversations.ts'
import {
  type Collections,
  defineCollection,
  createMemoryCollections,
  openCollections,
  type Page,
} from '#shared/store/collection/collection.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import {
  type ConversationStore,
  exportPageSize,
  maxConversations,
  mergeConversation,
  type ConversationPageRequest,
  parseConversationCursor,
  summarizeConversation,
  createTooManyConversationsError,
} from './store.ts'

const OwnedConversation = z.object({ owner: z.string(), conversation: Conversation })
type OwnedConversation = z.infer<typeof OwnedConversation>

/** Conversation ids contain no colon, so the last colon separates owner and id. */
const createConversationKey = (owner: string, id: string): string => `${owner}:${id}`

const createCursor = (next: Page<unknown>['next']): string | null =>
  next ? `${next.value}.${next.id.slice(next.id.lastIndexOf(':') + 1)}` : null

const ownedConversations = defineCollection({
  name: 'agent_conversations',
  schema: OwnedConversation,
  columns: { owner: 'text', updatedAtMs: 'integer' },
  indexes: [['owner', 'updatedAtMs', 'id'], ['updatedAtMs']],
  // No document limit: `maxConversations` limits each owner. The default limit on characters covers all owners.
  memory: { maxDocuments: Infinity },
  idOf: ({ owner, conversation }) => createConversationKey(owner, conversation.id),
  valuesOf: ({ owner, conversation: { updatedAtMs } }) => ({ owner, updatedAtMs }),
  summary: {
    schema: ConversationSummary,
    of: ({ conversation }) => summarizeConversation(conversation),
  },
})

/**
 * Returns a store in the memory of this process, whose conversations are lost at a restart. `max` limits the number
 * of conversations per owner, `maxCharacters` the JSON of all conversations.
 */
export const createMemoryConversationStore = (max?: number, maxCharacters?: number): ConversationStore => {
  const memory = { ...ownedConversations.memory, maxCharacters }
  return {
    ...createCollectionStore(createMemoryCollections(), max, { ...ownedConversations, memory }),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Opens a store in the table `agent_conversations` of a PostgreSQL or SQLite database. */
export const openSqlConversationStore = async (where: StateDatabase, max?: number): Promise<ConversationStore> => {
  await using opening = new AsyncDisposableStack()
  // Loaded on demand, because the drivers are large.
  const { openDatabase } = await import('#shared/store/sql/connection.ts')
  const database = opening.use(await openDatabase(where))
  const store = createCollectionStore(await openCollections('conversations', [ownedConversations], database), max)
  const opened = opening.move()
  return { ...store, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const backendByDialect = { memory: 'memory', sqlite: 'edgesql', postgres: 'postgres' } as const

const createCollectionStore = (
  collections: Collections,
  max = maxConversations,
  spec = ownedConversations,
): Omit<ConversationStore, typeof Symbol.asyncDispose> => {
  const collection = collections.of(spec)
  return {
    backend: backendByDialect[collections.kind],
    async list(owner, place) {
      const { documents, next } = await collection.summaryPage(createNewestFirstQuery(owner, place))
      return { conversations: documents, next: createCursor(next) }
    },
    async whole(owner, cursor) {
      const { documents, next } = await collection.page(
        createNewestFirstQuery(owner, { limit: exportPageSize, cursor }),
      )
      return { conversations: documents.map(({ conversation }) => conversation), next: createCursor(next) }
    },
    get: async (owner, id) => (await collection.get(createConversationKey(owner, id)))?.conversation,
    async put(owner, written) {
      const write = (present: OwnedConversation | undefined): OwnedConversation => ({
        owner,
        conversation: mergeConversation(written, present?.conversation),
      })
      const key = createConversationKey(owner, written.id)
      const replaced = await collection.change(key, (present) => present && write(present))
      if (replaced.after) return { created: false, conversation: summarizeConversation(replaced.after.conversation) }
      // Two concurrent writes may both pass this check and exceed the limit by one, which is harmless.
      if ((await collection.count({ owner })) >= max) throw createTooManyConversationsError(max)
      const { before, after } = await collection.change(key, write)
      return { created: before === undefined, conversation: summarizeConversation(after.conversation) }
    },
    async retitle(owner, id, from, to) {
      await collection.change(createConversationKey(owner, id), (present) =>
        present?.conversation.title === from
          ? { ...present, conversation: { ...present.conversation, title: to } }
          : undefined,
      )
    },
    remove: async (owner, id) => (await collection.remove({ id: createConversationKey(owner, id) })) > 0,
    removeAll: (owner) => collection.remove({ owner }),
    prune: (beforeMs) => collection.remove({ updatedAtMs: { before: beforeMs } }),
  }
}

/** Returns the query for an owner's conversations, most recently changed first. */
const createNewestFirstQuery = (owner: string, { limit, cursor }: ConversationPageRequest) => {
  const after = cursor === undefined ? undefined : parseConversationCursor(cursor)
  return {
    where: { owner },
    orderBy: 'updatedAtMs' as const,
    descending: true,
    after: after && { value: after.updatedAtMs, id: createConversationKey(owner, after.id) },
    limit,
  }
}
