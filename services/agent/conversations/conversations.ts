import type { Logger } from 'pino'
import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import {
  conversationLimits,
  type Conversation,
  type ConversationInput,
  type ConversationBackend,
  type ConversationSummary,
  type conversationMethods,
} from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import type { pruneMethods } from '#proto/retention.ts'
import type { Environment } from '#shared/config/environment.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { Net } from '#shared/net/net.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Models } from '../models/models.ts'
import { type ConversationStoreChoice, chooseConversationStore, conversationSettings } from './store-choice.ts'
import { generateFollowUps, openTitleGenerator } from './title-generator.ts'
import { createMemoryConversationStore, openSqlConversationStore } from './collection-stores.ts'
import {
  type ConversationStore,
  type ConversationPutResult,
  type ConversationPage,
  type ConversationPageRequest,
  createInitialTitle,
} from './store.ts'

/** The stored conversations of all users. Only the owner can access a conversation. */
export interface Conversations extends AsyncDisposable {
  readonly backend: ConversationBackend
  /** Returns whether titles and follow-up questions are generated. */
  supportsAiEnrichment(): boolean
  list(owner: string, place: ConversationPageRequest): Promise<ConversationPage<ConversationSummary>>
  /** Returns a conversation. Like `remove` and `followUps`, throws `not-found` if this owner does not have it. */
  get(owner: string, id: string): Promise<Conversation>
  /** Returns complete conversations, page by page. */
  export(owner: string, cursor: string | undefined): Promise<ConversationPage<Conversation>>
  /** Creates or replaces a conversation. Throws `too-large`, and `conflict` if the owner has too many conversations. */
  keep(owner: string, written: ConversationInput, call: CallContext): Promise<ConversationPutResult>
  remove(owner: string, id: string): Promise<void>
  removeAll(owner: string): Promise<number>
  /** Generates follow-up questions. Throws `not-implemented` unless enrichment is enabled. */
  followUps(owner: string, id: string, call: CallContext): Promise<string[]>
  /** Removes the expired conversations of all owners. */
  prune(): Promise<number>
}

interface ConversationDeps {
  env: Environment
  net: Net
  clock: Clock
  log: Logger
  models: Pick<Models, 'choose' | 'tracer'>
}

const dayMs = 86_400_000

/** Returns the conversations of the configured store, which is opened on first use. */
export const openConversations = (parts: ConversationDeps): Conversations => {
  const { env, clock, log, models } = parts
  const choice = chooseConversationStore(env)
  const { store, close } = openLazily(() => openStore(choice, parts))
  const titling = openTitleGenerator({ store, models, clock, log })
  const enriches = () => choice.backend === 'convstore' && parseSettings(conversationSettings, env).CONVSTORE_AI_ENRICH
  const get = async (owner: string, id: string) => requireFound(await (await store()).get(owner, id))

  return {
    backend: choice.backend,
    supportsAiEnrichment: enriches,
    list: async (owner, place) => (await store()).list(owner, place),
    get,
    export: async (owner, cursor) => (await store()).whole(owner, cursor),
    async keep(owner, written, call) {
      requireMaxSize(written)
      const result = await (
        await store()
      ).put(owner, {
        ...written,
        firstWords: createInitialTitle(written.messages),
        atMs: clock.now(),
      })
      if (result.created && written.title === undefined && enriches()) {
        titling.start(owner, { ...result.conversation, messages: written.messages }, call)
      }
      return result
    },
    async remove(owner, id) {
      if (!(await (await store()).remove(owner, id))) throw createConversationNotFoundError()
    },
    removeAll: async (owner) => (await store()).removeAll(owner),
    async followUps(owner, id, call) {
      if (!enriches()) throw createNotGeneratedError()
      const { messages } = await get(owner, id)
      return generateFollowUps(models, messages, call)
    },
    prune: async () =>
      (await store()).prune(clock.now() - parseSettings(conversationSettings, env).SVC_CONVERSATIONS_DAYS * dayMs),
    async [Symbol.asyncDispose]() {
      await titling[Symbol.asyncDispose]()
      await close()
    },
  }
}

const openStore = async (choice: ConversationStoreChoice, parts: ConversationDeps): Promise<ConversationStore> => {
  switch (choice.backend) {
    case 'memory':
      parts.log.info('conversations are stored in memory and lost on restart')
      return createMemoryConversationStore()
    case 'convstore': {
      const [{ openThreadClient }, { createConvstoreConversationStore: convstore }] = await Promise.all([
        import('#shared/convstore/client.ts'),
        import('./convstore/store.ts'),
      ])
      return convstore(openThreadClient(parts))
    }
    case 'edgesql':
    case 'postgres':
      return openSqlConversationStore(choice.where)
  }
}

/** Opens the store at the first call, once for all callers. After a failure, the next call tries again. */
const openLazily = (open: () => Promise<ConversationStore>) => {
  let opening: Promise<ConversationStore> | undefined
  return {
    store: (): Promise<ConversationStore> =>
      (opening ??= open().catch((error: unknown) => {
        opening = undefined
        throw error
      })),
    close: async (): Promise<void> => {
      const opened = await opening?.catch(() => undefined)
      await opened?.[Symbol.asyncDispose]()
    },
  }
}

const requireMaxSize = ({ messages, evidence }: ConversationInput): void => {
  if (Buffer.byteLength(JSON.stringify([messages, evidence])) <= conversationLimits.bytes) return
  const sentence = `conversation too large: the maximum is ${conversationLimits.bytes} bytes; start a new one`
  throw new ServiceError('too-large', sentence, { details: { parameter: 'messages' } })
}

const requireFound = (conversation: Conversation | undefined): Conversation => {
  if (conversation) return conversation
  throw createConversationNotFoundError()
}

/** Returns the error for a missing conversation. It is the same for those of other owners, to hide that they exist. */
const createConversationNotFoundError = (): ServiceError =>
  new ServiceError('not-found', 'conversation not found; it may have expired', {
    details: { parameter: 'id' },
  })

const createNotGeneratedError = (): ServiceError =>
  new ServiceError(
    'not-implemented',
    'follow-up questions are unavailable: they require AgentState; set CONVSTORE_API_KEY and CONVSTORE_AI_ENRICH',
  )

/** Returns the handlers for conversations. The owner is the identity of the caller, never part of a request. */
export const createConversationHandlers = (
  conversations: Conversations,
): ServiceHandlers<Service<typeof conversationMethods & typeof pruneMethods>> => ({
  conversationBackend: async () => ({
    backend: conversations.backend,
    supportsAiEnrichment: conversations.supportsAiEnrichment(),
  }),
  conversations: (place, call) => conversations.list(requireOwner(call), place),
  conversation: ({ id }, call) => conversations.get(requireOwner(call), id),
  exportConversations: ({ cursor }, call) => conversations.export(requireOwner(call), cursor),
  keepConversation: (written, call) => conversations.keep(requireOwner(call), written, call),
  removeConversation: async ({ id }, call) => {
    await conversations.remove(requireOwner(call), id)
    return {}
  },
  removeConversations: async (_input, call) => ({ removed: await conversations.removeAll(requireOwner(call)) }),
  followUps: async ({ id }, call) => ({ questions: await conversations.followUps(requireOwner(call), id, call) }),
  prune: async () => ({ removed: { conversations: await conversations.prune() } }),
})

/** Returns the signed-in user. API keys and guests own no conversations; their history is stored in the browser. */
const requireOwner = ({ identity: { kind, subject } }: CallContext): string => {
  if (kind === 'user') return subject
  throw new ServiceError('unauthenticated', 'sign in to save conversations')
}
