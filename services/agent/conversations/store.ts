import type {
  Conversation,
  ConversationBackend,
  ConversationSummary,
  WrittenConversation,
  UiMessage,
} from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'

/** A conversation as it is to be kept. */
export interface Written extends WrittenConversation {
  /** What a new conversation without a title is called. */
  firstWords: string
  atMs: number
}

/** Where a list of one owner is read. */
export interface Place {
  limit: number
  cursor?: string | undefined
}

/** Some of a list; `next` is the cursor of what follows, null at its end. */
export interface Page<T> {
  conversations: T[]
  next: string | null
}

/** What keeping came to. */
export interface Kept {
  created: boolean
  conversation: ConversationSummary
}

/** Conversations that one owner may have, where the store is ours. */
export const mostConversations = 1_000
/** Whole conversations that are read at once. */
export const wholeAtOnce = 10

/**
 * Where conversations are kept. Every question but `prune` names the owner, and an id means the conversation of that owner
 * alone, so that nobody reaches, overwrites or finds out about those of another.
 */
export interface ConversationStore extends AsyncDisposable {
  readonly backend: ConversationBackend
  /** Those changed last first. */
  list(owner: string, place: Place): Promise<Page<ConversationSummary>>
  get(owner: string, id: string): Promise<Conversation | undefined>
  /** The same list with messages, `wholeAtOnce` at a time. */
  whole(owner: string, cursor: string | undefined): Promise<Page<Conversation>>
  /** Replaces what is there but its age, and its title and evidence where none are given. Throws `conflict` for one too many. */
  put(owner: string, written: Written): Promise<Kept>
  /** Gives another title, unless somebody has done so since. */
  retitle(owner: string, id: string, from: string, to: string): Promise<void>
  /** Whether it was there. */
  remove(owner: string, id: string): Promise<boolean>
  removeAll(owner: string): Promise<number>
  /** Removes those of all owners that were last changed before; says how many. */
  prune(beforeMs: number): Promise<number>
}

/** The words of a message, without what tools said. */
export const wordsOf = ({ parts }: UiMessage): string =>
  parts
    .flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
    .trim()

/** A text in one line, cut to a length; undefined when nothing is left of it. */
export const oneLine = (text: string, length: number): string | undefined => {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  // By characters, so that none is cut in two.
  const letters = Array.from(line)
  if (letters.length <= length) return letters.join('') || undefined
  return `${letters.slice(0, length - 1).join('')}…`
}

const longestFirstWords = 50

/** What a new conversation without a title is called: how the person began. */
export const firstWords = (messages: readonly UiMessage[]): string =>
  messages
    .filter(({ role }) => role === 'user')
    .map((message) => oneLine(wordsOf(message), longestFirstWords))
    .find((line) => line !== undefined) ?? 'Conversation'

/** What is written over what was there. */
export const merged = (written: Written, present: Conversation | undefined): Conversation => {
  const { id, title, hostKey, model, messages, evidence, firstWords, atMs } = written
  return {
    id,
    title: title ?? present?.title ?? firstWords,
    hostKey,
    model,
    messageCount: messages.length,
    createdAtMs: present?.createdAtMs ?? atMs,
    updatedAtMs: atMs,
    messages,
    evidence: evidence ?? present?.evidence ?? [],
  }
}

/** Says what to do when an owner has as many as one may have. */
export const tooMany = (most: number): ServiceError =>
  new ServiceError('conflict', `too many conversations: the maximum is ${most}; delete some first`)
