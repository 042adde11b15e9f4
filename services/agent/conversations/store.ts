import type {
  Conversation,
  ConversationBackend,
  ConversationSummary,
  UiMessage,
  ConversationInput,
} from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'

/** The position that a cursor encodes: the last conversation of the previous page. */
interface CursorPosition {
  updatedAtMs: number
  id: string
}

/** Parses a cursor. Throws `invalid` for a cursor of another store. The contract validates the rest of the format. */
export const parseConversationCursor = (cursor: string): CursorPosition => {
  const [time = '', id = ''] = cursor.split('.')
  const updatedAtMs = Number(time)
  if (Number.isInteger(updatedAtMs)) return { updatedAtMs, id }
  throw new ServiceError('invalid', 'invalid cursor: use the value of "next" from the previous response', {
    details: { parameter: 'cursor' },
  })
}

/** Returns the list entry of a conversation. */
export const summarizeConversation = <T extends ConversationSummary>({
  id,
  title,
  hostKey,
  model,
  messageCount,
  createdAtMs,
  updatedAtMs,
}: T): ConversationSummary => ({ id, title, hostKey, model, messageCount, createdAtMs, updatedAtMs })

/** A conversation to write, with the time of the write. */
export interface ConversationWrite extends ConversationInput {
  /** The initial title of a new conversation without a title. */
  firstWords: string
  atMs: number
}

/** The page to return from an owner's list. */
export interface ConversationPageRequest {
  limit: number
  cursor?: string | undefined
}

/** One page of a list; `next` is the cursor of the following page, null on the last one. */
export interface ConversationPage<T> {
  conversations: T[]
  next: string | null
}

/** The result of storing a conversation. */
export interface ConversationPutResult {
  created: boolean
  conversation: ConversationSummary
}

/** Maximum number of conversations per owner in the built-in stores. */
export const maxConversations = 1_000
/** Number of complete conversations per page of an export. */
export const exportPageSize = 10

/**
 * A store of conversations. All methods except `prune` require the owner, and ids are unique per owner only. No owner
 * can read, overwrite or detect the conversations of another.
 */
export interface ConversationStore extends AsyncDisposable {
  readonly backend: ConversationBackend
  /** Returns a page of summaries, most recently changed first. */
  list(owner: string, place: ConversationPageRequest): Promise<ConversationPage<ConversationSummary>>
  get(owner: string, id: string): Promise<Conversation | undefined>
  /** Returns complete conversations in the order of `list`, `exportPageSize` per page. */
  whole(owner: string, cursor: string | undefined): Promise<ConversationPage<Conversation>>
  /**
   * Creates or replaces a conversation. Keeps the creation time, and the title and evidence if `written` has none.
   * Throws `conflict` if the owner has too many conversations.
   */
  put(owner: string, written: ConversationWrite): Promise<ConversationPutResult>
  /** Replaces the title with `to` if it is still `from`. */
  retitle(owner: string, id: string, from: string, to: string): Promise<void>
  /** Removes a conversation and returns whether it existed. */
  remove(owner: string, id: string): Promise<boolean>
  /** Removes all conversations of an owner and returns their number. */
  removeAll(owner: string): Promise<number>
  /** Removes the conversations of all owners that were last changed before this time, and returns their number. */
  prune(beforeMs: number): Promise<number>
}

/** Returns the text of a message, without tool results. */
export const extractMessageText = ({ parts }: UiMessage): string =>
  parts
    .flatMap((part) => (part.type === 'text' && typeof part.text === 'string' ? [part.text] : []))
    .join('\n')
    .trim()

/** Joins the lines of a text and truncates it to a number of characters. Returns undefined for an empty text. */
export const truncateToLine = (text: string, length: number): string | undefined => {
  const line = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  // Truncating by code points keeps surrogate pairs intact.
  const letters = Array.from(line)
  if (letters.length <= length) return letters.join('') || undefined
  return `${letters.slice(0, length - 1).join('')}…`
}

const maxInitialTitleLength = 50

/** Returns the title of a new conversation that has none: the beginning of the user's first message. */
export const createInitialTitle = (messages: readonly UiMessage[]): string =>
  messages
    .filter(({ role }) => role === 'user')
    .map((message) => truncateToLine(extractMessageText(message), maxInitialTitleLength))
    .find((line) => line !== undefined) ?? 'Conversation'

/**
 * Merges a written conversation with the stored one. Keeps the stored creation time, and the stored title and evidence
 * if the written conversation has none.
 */
export const mergeConversation = (written: ConversationWrite, present: Conversation | undefined): Conversation => {
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

/** Returns the error for an owner with too many conversations. */
export const createTooManyConversationsError = (max: number): ServiceError =>
  new ServiceError('conflict', `too many conversations: the maximum is ${max}; delete some first`)
