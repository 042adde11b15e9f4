import type {
  Conversation,
  ConversationBackend,
  ConversationSummary,
  WrittenConversation,
} from '#proto/conversations.ts'

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
