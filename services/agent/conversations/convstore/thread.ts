import { hash } from 'node:crypto'
import { z } from 'zod'
import { Conversation, ConversationSummary, UiMessage } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Thread, ThreadMessage, ThreadClient, ThreadQuery, ThreadPage } from '#shared/convstore/client.ts'
import { extractMessageText } from '../store.ts'

/**
 * The metadata of a thread: the summary of the conversation without its title. Threads of other applications do not
 * have this key.
 */
const ThreadMetadata = z.object({ watchhouse: ConversationSummary.omit({ title: true }) })

/** Returns the thread metadata for a conversation. */
export const toThreadMetadata = ({ title: _title, ...facts }: ConversationSummary): z.input<typeof ThreadMetadata> => ({
  watchhouse: facts,
})

/** Returns the list entry of a thread; undefined for a thread of another application. */
export const parseThreadSummary = ({
  title,
  metadata,
}: Pick<Thread, 'title' | 'metadata'>): ConversationSummary | undefined => {
  const own = ThreadMetadata.safeParse(metadata)
  return own.success ? { ...own.data.watchhouse, title: title ?? '' } : undefined
}

const StoredMessage = z.object({ watchhouse: z.object({ position: z.int().min(0), message: UiMessage }) })
const StoredEvidence = z.object({ watchhouse: z.object({ evidence: Conversation.shape.evidence }) })

/** Converts the messages from index `from` on to thread messages. */
export const toThreadMessages = (messages: readonly UiMessage[], from = 0): ThreadMessage[] =>
  messages.slice(from).map((message, index) => ({
    role: message.role,
    content: extractMessageText(message) || '(no text)',
    metadata: { watchhouse: { position: from + index, message } },
  }))

/**
 * Returns the message that stores the evidence. The evidence is not in the thread metadata, because lists return all
 * metadata. If a thread has several such messages, the last one applies.
 */
export const createEvidenceMessage = (evidence: Conversation['evidence']): ThreadMessage => ({
  role: 'tool',
  content: '(evidence)',
  metadata: { watchhouse: { evidence } },
})

/** Returns the conversation of a thread; undefined for a thread of another application. */
export const parseThread = (thread: Thread): Conversation | undefined => {
  const summary = parseThreadSummary(thread)
  if (summary === undefined) return undefined
  const stored = thread.messages.map(({ metadata }) => metadata)
  // Concurrent writes may append a message twice.
  const byPosition = new Map<number, UiMessage>()
  for (const metadata of stored) {
    const { data } = StoredMessage.safeParse(metadata)
    if (data) byPosition.set(data.watchhouse.position, data.watchhouse.message)
  }
  const messages = [...byPosition].toSorted(([one], [other]) => one - other).map(([, message]) => message)
  const last = stored.findLast((metadata) => StoredEvidence.safeParse(metadata).success)
  const evidence = StoredEvidence.safeParse(last).data?.watchhouse.evidence ?? []
  return Conversation.safeParse({ ...summary, messages: messages.slice(0, summary.messageCount), evidence }).data
}

/** Maximum length of a tag that the conversation service documents, in characters. */
const maxTagLength = 64
/** Returns the tag of an owner's threads; undefined if the owner's name is too long. */
const createOwnerTag = (owner: string): string | undefined => {
  const tag = `user:${owner}`
  return tag.length <= maxTagLength ? tag : undefined
}
/** Returns the tag for services that reject colons, and for names that are too long. */
const createPlainTag = (owner: string): string => `user-${hash('sha256', owner).slice(0, 32)}`
/** Prefix of cursors for lists by plain tag. Other cursors come from the conversation service unchanged. */
const plainCursorPrefix = '~'

/** Adds the owner tag to a thread, or the plain tag if the service rejects it. Throws `unavailable` if both fail. */
export const tagThread = async (threads: ThreadClient, id: string, owner: string): Promise<void> => {
  for (const tag of [createOwnerTag(owner), createPlainTag(owner)])
    if (tag !== undefined && (await threads.tag(id, tag))) return
  throw new ServiceError(
    'unavailable',
    `the conversation service rejects the tag ${createPlainTag(owner)}; allow tags of letters, digits and hyphens`,
  )
}

/**
 * Returns a page of an owner's threads. If no thread has the usual tag, lists those with the plain tag, because the
 * service may have rejected the usual one.
 */
export const listOwnerThreads = async (
  threads: ThreadClient,
  owner: string,
  { limit, cursor }: Pick<ThreadQuery, 'limit' | 'cursor'>,
): Promise<ThreadPage> => {
  const tag = createOwnerTag(owner)
  const isPlain = cursor?.startsWith(plainCursorPrefix) ?? false
  if (tag !== undefined && !isPlain) {
    const page = await threads.list({ tag, limit, cursor })
    if (cursor !== undefined || page.data.length > 0) return page
  }
  const after = isPlain ? cursor?.slice(plainCursorPrefix.length) : undefined
  const { data, pagination } = await threads.list({ tag: createPlainTag(owner), limit, cursor: after })
  const next = pagination.next_cursor
  return { data, pagination: { next_cursor: next === null ? null : `${plainCursorPrefix}${next}` } }
}
