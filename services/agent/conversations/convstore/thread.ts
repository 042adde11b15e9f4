import { z } from 'zod'
import { Conversation, ConversationSummary, UiMessage } from '#proto/conversations.ts'
import type { Thread, ThreadMessage } from '#shared/convstore/client.ts'
import { wordsOf } from '../words.ts'

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
