import { hash } from 'node:crypto'
import { z } from 'zod'
import { Conversation, ConversationSummary, UiMessage } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { Thread, ThreadMessage, ThreadClient, ThreadList, ThreadPage } from '#shared/convstore/client.ts'
import { wordsOf } from '../store.ts'

/** What we keep of a conversation beside its title and messages; also how our threads are told from those of others. */
const OwnFacts = z.object({ watchhouse: ConversationSummary.omit({ title: true }) })

/** The facts of a conversation as its thread keeps them. */
export const factsOf = ({ title: _title, ...facts }: ConversationSummary): z.input<typeof OwnFacts> => ({
  watchhouse: facts,
})

/** What lists say of a thread; undefined of one that is none of ours. */
export const summaryOf = ({ title, metadata }: Pick<Thread, 'title' | 'metadata'>): ConversationSummary | undefined => {
  const own = OwnFacts.safeParse(metadata)
  return own.success ? { ...own.data.watchhouse, title: title ?? '' } : undefined
}

const KeptMessage = z.object({ watchhouse: z.object({ position: z.int().min(0), message: UiMessage }) })
const KeptEvidence = z.object({ watchhouse: z.object({ evidence: Conversation.shape.evidence }) })

/** Messages from a position on, as a thread keeps them. */
export const threadMessages = (messages: readonly UiMessage[], from = 0): ThreadMessage[] =>
  messages.slice(from).map((message, index) => ({
    role: message.role,
    content: wordsOf(message) || '(no words)',
    metadata: { watchhouse: { position: from + index, message } },
  }))

/** Evidence is told like a message, of which the last counts, since lists repeat all metadata of a thread. */
export const evidenceMessage = (evidence: Conversation['evidence']): ThreadMessage => ({
  role: 'tool',
  content: '(evidence)',
  metadata: { watchhouse: { evidence } },
})

/** The conversation that a thread holds; undefined of one that is none of ours. */
export const conversationOf = (thread: Thread): Conversation | undefined => {
  const summary = summaryOf(thread)
  if (summary === undefined) return undefined
  const kept = thread.messages.map(({ metadata }) => metadata)
  // One that was told twice at the same time counts once.
  const byPosition = new Map<number, UiMessage>()
  for (const metadata of kept) {
    const { data } = KeptMessage.safeParse(metadata)
    if (data) byPosition.set(data.watchhouse.position, data.watchhouse.message)
  }
  const messages = [...byPosition].toSorted(([one], [other]) => one - other).map(([, message]) => message)
  const last = kept.findLast((metadata) => KeptEvidence.safeParse(metadata).success)
  const evidence = KeptEvidence.safeParse(last).data?.watchhouse.evidence ?? []
  return Conversation.safeParse({ ...summary, messages: messages.slice(0, summary.messageCount), evidence }).data
}

/** Characters of a tag, as the service documents. */
const longestTag = 64
/** How the threads of an owner are tagged; undefined for a name that is too long for it. */
const tagOf = (owner: string): string | undefined => {
  const tag = `user:${owner}`
  return tag.length <= longestTag ? tag : undefined
}
/** Stands in where the service takes no colon, or the name is too long. */
const plainTagOf = (owner: string): string => `user-${hash('sha256', owner).slice(0, 32)}`
/** Begins the cursors of lists by plain tags; those of the service itself go on as they are. */
const plainMark = '~'

/** Tags a thread with its owner, in the way that the service takes; fails when it takes none. */
export const tagWith = async (threads: ThreadClient, id: string, owner: string): Promise<void> => {
  for (const tag of [tagOf(owner), plainTagOf(owner)]) if (tag !== undefined && (await threads.tag(id, tag))) return
  throw new ServiceError('unavailable', 'the conversation service rejects tags')
}

/**
 * A page of the threads of an owner. Where there is none under the usual tag the plain one is looked at: so nothing has to be remembered of
 * what the service takes.
 */
export const listOf = async (
  threads: ThreadClient,
  owner: string,
  { limit, cursor }: Pick<ThreadList, 'limit' | 'cursor'>,
): Promise<ThreadPage> => {
  const tag = tagOf(owner)
  const isPlain = cursor?.startsWith(plainMark) ?? false
  if (tag !== undefined && !isPlain) {
    const page = await threads.list({ tag, limit, cursor })
    if (cursor !== undefined || page.data.length > 0) return page
  }
  const after = isPlain ? cursor?.slice(plainMark.length) : undefined
  const { data, pagination } = await threads.list({ tag: plainTagOf(owner), limit, cursor: after })
  const next = pagination.next_cursor
  return { data, pagination: { next_cursor: next === null ? null : `${plainMark}${next}` } }
}
