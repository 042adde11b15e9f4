import { z } from 'zod'
import { Conversation, ConversationSummary } from '#proto/conversations.ts'
import {
  type Collections,
  defineCollection,
  memoryCollections,
  openCollections,
  type Page,
} from '#shared/store/collection/collection.ts'
import type { StateDatabase } from '#shared/store/sql/state-database.ts'
import { positionOf, summaryOf } from './cursor.ts'
import { type ConversationStore, mostConversations, type Place, wholeAtOnce, merged, tooMany } from './store.ts'

const OwnedConversation = z.object({ owner: z.string(), conversation: Conversation })
type OwnedConversation = z.infer<typeof OwnedConversation>

/** Conversation ids have no colon, so the last one ends the owner. */
const keyOf = (owner: string, id: string): string => `${owner}:${id}`

const cursorOf = (next: Page<unknown>['next']): string | null =>
  next ? `${next.value}.${next.id.slice(next.id.lastIndexOf(':') + 1)}` : null

const ownedConversations = defineCollection({
  name: 'agent_conversations',
  schema: OwnedConversation,
  columns: { owner: 'text', updatedAtMs: 'integer' },
  indexes: [['owner', 'updatedAtMs', 'id'], ['updatedAtMs']],
  // An owner may have so many, and the usual limit of characters holds for all of them together.
  memory: { maxDocuments: Infinity },
  idOf: ({ owner, conversation }) => keyOf(owner, conversation.id),
  valuesOf: ({ owner, conversation: { updatedAtMs } }) => ({ owner, updatedAtMs }),
  summary: {
    schema: ConversationSummary,
    of: ({ conversation }) => summaryOf(conversation),
  },
})

/** Kept by this process alone, `room` characters of JSON at most; a restart forgets all of it. */
export const memoryStore = (most?: number, room?: number): ConversationStore => {
  const memory = { ...ownedConversations.memory, maxCharacters: room }
  return {
    ...storeIn(memoryCollections(), most, { ...ownedConversations, memory }),
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Kept in the table `agent_conversations` of a PostgreSQL or SQLite database. */
export const openSqlStore = async (where: StateDatabase, most?: number): Promise<ConversationStore> => {
  await using opening = new AsyncDisposableStack()
  // Loaded only where there is one, as the drivers are large.
  const { openDatabase } = await import('#shared/store/sql/connection.ts')
  const database = opening.use(await openDatabase(where))
  const store = storeIn(await openCollections('conversations', [ownedConversations], database), most)
  const opened = opening.move()
  return { ...store, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

const backends = { memory: 'memory', sqlite: 'edgesql', postgres: 'postgres' } as const

const storeIn = (
  collections: Collections,
  most = mostConversations,
  spec = ownedConversations,
): Omit<ConversationStore, typeof Symbol.asyncDispose> => {
  const kept = collections.of(spec)
  return {
    backend: backends[collections.kind],
    async list(owner, place) {
      const { documents, next } = await kept.summaryPage(lastFirst(owner, place))
      return { conversations: documents, next: cursorOf(next) }
    },
    async whole(owner, cursor) {
      const { documents, next } = await kept.page(lastFirst(owner, { limit: wholeAtOnce, cursor }))
      return { conversations: documents.map(({ conversation }) => conversation), next: cursorOf(next) }
    },
    get: async (owner, id) => (await kept.get(keyOf(owner, id)))?.conversation,
    async put(owner, written) {
      const write = (present: OwnedConversation | undefined): OwnedConversation => ({
        owner,
        conversation: merged(written, present?.conversation),
      })
      const key = keyOf(owner, written.id)
      const replaced = await kept.change(key, (present) => present && write(present))
      if (replaced.after) return { created: false, conversation: summaryOf(replaced.after.conversation) }
      // Two at once may both find room for one, which does no harm.
      if ((await kept.count({ owner })) >= most) throw tooMany(most)
      const { before, after } = await kept.change(key, write)
      return { created: before === undefined, conversation: summaryOf(after.conversation) }
    },
    async retitle(owner, id, from, to) {
      await kept.change(keyOf(owner, id), (present) =>
        present?.conversation.title === from
          ? { ...present, conversation: { ...present.conversation, title: to } }
          : undefined,
      )
    },
    remove: async (owner, id) => (await kept.remove({ id: keyOf(owner, id) })) > 0,
    removeAll: (owner) => kept.remove({ owner }),
    prune: (beforeMs) => kept.remove({ updatedAtMs: { before: beforeMs } }),
  }
}

/** The list of one owner, those changed last first. */
const lastFirst = (owner: string, { limit, cursor }: Place) => {
  const after = cursor === undefined ? undefined : positionOf(cursor)
  return {
    where: { owner },
    orderBy: 'updatedAtMs' as const,
    descending: true,
    after: after && { value: after.updatedAtMs, id: keyOf(owner, after.id) },
    limit,
  }
}
