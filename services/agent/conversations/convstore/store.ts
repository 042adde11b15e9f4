import type { Conversation } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import { type Thread, type ThreadClient, maxThreadsPerRequest } from '#shared/convstore/client.ts'
import {
  type ConversationStore,
  exportPageSize,
  mergeConversation,
  type ConversationPutResult,
  summarizeConversation as fieldsOf,
  type ConversationWrite,
} from '../store.ts'
import {
  parseThread,
  createEvidenceMessage,
  toThreadMetadata,
  listOwnerThreads,
  parseThreadSummary,
  tagThread,
  toThreadMessages,
} from './thread.ts'

/** Maximum number of list pages that one removal or pruning reads. */
const maxPages = 20
/** Maximum attempts to write a conversation while other clients create the same one. */
const maxWriteAttempts = 3

/** Conversation ids contain no colon, so the last colon separates owner and id. */
const createExternalId = (owner: string, id: string): string => `${owner}:${id}`
/** Compares the external id, because other applications of the project can set any tag. */
const isOwnedBy = (owner: string, { external_id: name }: Pick<Thread, 'external_id'>): boolean =>
  name?.slice(0, name.lastIndexOf(':')) === owner

/**
 * Returns a store in the conversation service. All owners share one project, so the external id and the tag of each
 * thread contain its owner.
 */
export const createConvstoreConversationStore = (threads: ThreadClient): ConversationStore => {
  const find = async (owner: string, id: string) => {
    const thread = await threads.byExternalId(createExternalId(owner, id))
    return thread?.external_id === createExternalId(owner, id) ? thread : undefined
  }

  return {
    backend: 'convstore',
    async list(owner, { limit, cursor }) {
      const { data, pagination } = await listOwnerThreads(threads, owner, { limit, cursor })
      const conversations = data
        .filter((thread) => isOwnedBy(owner, thread))
        .flatMap((thread) => parseThreadSummary(thread) ?? [])
      return { conversations, next: pagination.next_cursor }
    },
    async whole(owner, cursor) {
      const { data, pagination } = await listOwnerThreads(threads, owner, { limit: exportPageSize, cursor })
      const ids = data.filter((thread) => isOwnedBy(owner, thread)).map(({ id }) => id)
      const found = ids.length === 0 ? [] : await threads.whole(ids)
      return { conversations: found.flatMap((thread) => parseThread(thread) ?? []), next: pagination.next_cursor }
    },
    async get(owner, id) {
      const thread = await find(owner, id)
      return thread && parseThread(thread)
    },
    async put(owner, written) {
      for (let race = 0; race < maxWriteAttempts; race += 1) {
        const thread = await find(owner, written.id)
        const result = await writeConversation(threads, owner, written, thread)
        if (result) return result
      }
      throw new ServiceError('busy', 'write conflict: another client is writing this conversation; try again', {
        retryAfterMs: 1_000,
      })
    },
    async retitle(owner, id, from, to) {
      const thread = await find(owner, id)
      if (thread?.title === from) await threads.update(thread.id, { title: to })
    },
    async remove(owner, id) {
      const thread = await find(owner, id)
      if (thread) await threads.remove(thread.id)
      return thread !== undefined
    },
    removeAll: (owner) => removeAll(threads, owner),
    prune: (beforeMs) => prune(threads, beforeMs),
    [Symbol.asyncDispose]: async () => undefined,
  }
}

/** Creates or updates a conversation. Returns undefined if another client created it in the meantime. */
const writeConversation = async (
  threads: ThreadClient,
  owner: string,
  written: ConversationWrite,
  thread: Thread | undefined,
): Promise<ConversationPutResult | undefined> => {
  const present = thread && parseThread(thread)
  const conversation = mergeConversation(written, present)
  if (thread && present && canAppend(conversation, present)) {
    const newMessages = toThreadMessages(conversation.messages, present.messages.length)
    const evidence = isSame(conversation.evidence, present.evidence)
      ? []
      : [createEvidenceMessage(conversation.evidence)]
    if (newMessages.length + evidence.length > 0) await threads.append(thread.id, [...newMessages, ...evidence])
    await threads.update(thread.id, { title: conversation.title, metadata: toThreadMetadata(conversation) })
    return { created: false, conversation: fieldsOf(conversation) }
  }
  // The service can only append messages, so changed messages need a new thread. The client has sent the complete
  // conversation.
  if (thread) await threads.remove(thread.id)
  const isCreated = await createThread(threads, owner, conversation)
  return isCreated ? { created: present === undefined, conversation: fieldsOf(conversation) } : undefined
}

const createThread = async (threads: ThreadClient, owner: string, conversation: Conversation): Promise<boolean> => {
  const { id, title, messages, evidence } = conversation
  const threadId = await threads.create({
    external_id: createExternalId(owner, id),
    title,
    metadata: toThreadMetadata(conversation),
    messages: [...toThreadMessages(messages), ...(evidence.length > 0 ? [createEvidenceMessage(evidence)] : [])],
  })
  if (threadId === undefined) return false
  try {
    await tagThread(threads, threadId, owner)
    return true
  } catch (error) {
    // Lists and `removeAll` would not find a thread without its tag.
    await threads.remove(threadId)
    throw error
  }
}

/** Returns whether all stored messages are unchanged, so that the new ones can be appended. */
const canAppend = (now: Conversation, before: Conversation): boolean =>
  isSame(now.messages.slice(0, before.messages.length), before.messages)

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const removeAll = async (threads: ThreadClient, owner: string): Promise<number> => {
  let removed = 0
  for (let page = 0; page < maxPages; page += 1) {
    // Each iteration deletes the listed threads, so the next threads are again on the first page.
    const { data } = await listOwnerThreads(threads, owner, { limit: maxThreadsPerRequest })
    const ids = data.filter((thread) => isOwnedBy(owner, thread)).map(({ id }) => id)
    if (ids.length === 0) return removed
    await threads.removeAll(ids)
    removed += ids.length
  }
  throw new ServiceError('busy', `${removed} conversations were deleted and more remain; repeat the request`, {
    retryAfterMs: 60_000,
  })
}

/** Deletes expired threads, oldest first. Stops at a page that has threads of the product but no expired ones. */
const prune = async (threads: ThreadClient, beforeMs: number): Promise<number> => {
  let removed = 0
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const { data, pagination } = await threads.list({ order: 'asc', limit: maxThreadsPerRequest, cursor })
    const own = data.flatMap(({ metadata, title, id }) => {
      const summary = parseThreadSummary({ metadata, title })
      return summary ? [{ id, updatedAtMs: summary.updatedAtMs }] : []
    })
    const old = own.filter(({ updatedAtMs }) => updatedAtMs < beforeMs)
    if (old.length > 0) await threads.removeAll(old.map(({ id }) => id))
    removed += old.length
    const isYoung = own.length > 0 && old.length === 0
    if (isYoung || pagination.next_cursor === null) return removed
    cursor = pagination.next_cursor
  }
  return removed
}
