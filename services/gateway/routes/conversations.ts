import { z } from 'zod'
import type { CallContext, Identity } from '#proto/call.ts'
import type { Conversation, ConversationSummary } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ConversationResponse,
  ConversationBackendResponse,
  ConversationPath,
  ConversationsResponse,
  ConversationsQuery,
  FollowUpsResponse,
  StoreConversationResponse,
  StoreConversationRequest,
  RemoveConversationsResponse,
} from '#proto/http/conversations.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { resolveAuthProvider } from '../auth/provider.ts'
import { conversationFeatureSettings } from '../features/config.ts'
import type { Gateway } from '../gateway.ts'
import type { HostList } from '../hosts/host-list.ts'
import { defineDeleteRoute, defineGetRoute, definePutRoute, type Route } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { createSuccessBody } from '../response/envelope.ts'

const path = '/api/v1/conversations'
const one = `${path}/{id}` as const
const reading = { feature: 'AGENT', access: 'read', limit: 'data' } as const
const writing = { feature: 'AGENT', access: 'write', limit: 'data', query: noQuery } as const

const backend = defineGetRoute({
  ...reading,
  path: `${path}/backend`,
  doc: 'Returns where conversations of the caller are stored, and whether titles and follow-up questions are generated',
  query: noQuery,
  answer: ConversationBackendResponse,
  handle: async ({ call }, gateway) => {
    const inBrowser = notStoredReason(gateway, call.identity) !== undefined
    return inBrowser
      ? { backend: 'browser' as const, supportsAiEnrichment: false }
      : gateway.agent.conversationBackend({}, call)
  },
})

const list = defineGetRoute({
  ...reading,
  path,
  doc: 'Lists conversations of the caller, most recently changed first',
  query: ConversationsQuery,
  answer: ConversationsResponse,
  handle: async ({ query, call }, gateway) => {
    requireStored(gateway, call.identity)
    const { conversations, next } = await gateway.agent.conversations(query, call)
    const shown = await createHostPresenter(gateway.hosts)
    return createSuccessBody(conversations.map(shown), { count: conversations.length, next, nextCursor: next })
  },
})

const get = defineGetRoute({
  ...reading,
  path: one,
  doc: 'Returns one conversation of the caller, with its messages and evidence',
  query: noQuery,
  answer: ConversationResponse,
  handle: async ({ path: rawPath, call }, gateway) => {
    requireStored(gateway, call.identity)
    const conversation = await gateway.agent.conversation(parseRequestInput(ConversationPath, rawPath), call)
    return createSuccessBody((await createHostPresenter(gateway.hosts))(conversation), {})
  },
})

const save = definePutRoute({
  ...writing,
  path: one,
  doc: 'Creates or replaces a conversation of the caller',
  body: StoreConversationRequest,
  answer: StoreConversationResponse,
  handle: async ({ path: rawPath, body: { hostId, ...body }, call }, gateway) => {
    requireStored(gateway, call.identity)
    const { id } = parseRequestInput(ConversationPath, rawPath)
    const hostKey = hostId === null ? null : (await gateway.hosts.find(hostId)).key
    const { created, conversation } = await gateway.agent.keepConversation({ ...body, id, hostKey }, call)
    return createSuccessBody((await createHostPresenter(gateway.hosts))(conversation), { created })
  },
})

const remove = defineDeleteRoute({
  ...writing,
  path: one,
  doc: 'Deletes one conversation of the caller',
  answer: RemoveConversationsResponse,
  handle: async ({ path: rawPath, call, requestId }, gateway) => {
    requireStored(gateway, call.identity)
    const { id } = parseRequestInput(ConversationPath, rawPath)
    const action = { action: 'remove-conversation', host: null, target: { id } }
    await gateway.audit.of(action, { call, requestId }, () => gateway.agent.removeConversation({ id }, call))
    return createSuccessBody({ removed: 1 }, {})
  },
})

const removeAll = defineDeleteRoute({
  ...writing,
  path,
  doc: 'Deletes all conversations of the caller',
  answer: RemoveConversationsResponse,
  handle: async ({ call, requestId }, gateway) => {
    requireStored(gateway, call.identity)
    const action = { action: 'remove-conversations', host: null, target: {} }
    const removed = await gateway.audit.of(action, { call, requestId }, () =>
      gateway.agent.removeConversations({}, call),
    )
    return createSuccessBody(removed, {})
  },
})

const followUps = defineGetRoute({
  ...reading,
  path: `${one}/follow-ups`,
  doc: 'Returns follow-up questions that a language model suggests',
  // Each request calls a model.
  limit: 'agent',
  query: noQuery,
  answer: FollowUpsResponse,
  handle: async ({ path: rawPath, call }, gateway) => {
    requireStored(gateway, call.identity)
    return createSuccessBody(await gateway.agent.followUps(parseRequestInput(ConversationPath, rawPath), call), {})
  },
})

const mediaType = 'application/x-ndjson'

/** Maximum number of pages of an export, more than the conversations of one user can fill. */
const maxPages = 1_000

const exportConversations: Route = {
  method: 'GET',
  path: '/api/v1/conversations/export',
  doc: 'Exports all conversations of the caller as a file, one JSON object per line, most recently changed first',
  feature: 'AGENT',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: z.string(),
  mediaType,
  async respond({ call }, gateway, reply) {
    requireStored(gateway, call.identity)
    const shown = await createHostPresenter(gateway.hosts)
    let count = 0
    const lines = async function* () {
      for await (const conversation of everyConversation(gateway, call)) {
        count += 1
        yield new TextEncoder().encode(`${JSON.stringify(shown(conversation))}\n`)
      }
    }
    const day = new Date(gateway.clock.now()).toISOString().slice(0, 10)
    await reply.download({
      fileName: `conversations-${day}.jsonl`,
      contentType: mediaType,
      frames: lines(),
      trailerNames: ['X-Result-Rows'],
      trailers: () => ({ 'X-Result-Rows': String(count) }),
    })
  },
}

async function* everyConversation({ agent }: Gateway, call: CallContext): AsyncGenerator<Conversation, void, void> {
  let cursor: string | undefined
  for (let page = 0; page < maxPages; page += 1) {
    const { conversations, next } = await agent.exportConversations({ ...(cursor && { cursor }) }, call)
    yield* conversations
    if (next === null) return
    cursor = next
  }
}

/** Routes of conversations with the agent; callers see only their own. */
export const conversationRoutes: readonly Route[] = [
  backend,
  exportConversations,
  list,
  removeAll,
  get,
  save,
  remove,
  followUps,
]

type ConversationDeps = Pick<Gateway, 'env' | 'build'>

const buildSettings = { CLIENT_FEATURE_CONVERSATION_DB: conversationFeatureSettings.SVC_FEATURE_CONVERSATION_DB }

/** Returns why conversations of a caller are stored in its browser; undefined when the server stores them. */
const notStoredReason = ({ env, build }: ConversationDeps, { kind }: Identity): ServiceError | undefined => {
  const CLIENT_FEATURE_CONVERSATION_DB = build?.client.CLIENT_FEATURE_CONVERSATION_DB ?? undefined
  if (!parseSettings(buildSettings, { CLIENT_FEATURE_CONVERSATION_DB }).CLIENT_FEATURE_CONVERSATION_DB) {
    return missing('the web UI was built without SVC_FEATURE_CONVERSATION_DB')
  }
  if (resolveAuthProvider(env, build) !== 'idp') return missing('no identity provider is configured')
  return kind === 'user' ? undefined : new ServiceError('unauthenticated', 'sign in to save conversations')
}

/** Throws `not-implemented` if the browser stores conversations, and `unauthenticated` without sign-in. */
const requireStored = (deps: ConversationDeps, identity: Identity): void => {
  const reason = notStoredReason(deps, identity)
  if (reason) throw reason
}

const missing = (what: string): ServiceError =>
  new ServiceError('not-implemented', `conversations are stored in the browser: ${what}`)

/** Returns a function that replaces the host key of a conversation by the position and name of the host. */
const createHostPresenter = async (hosts: HostList) => {
  const byKey = new Map((await hosts.all()).map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return <T extends ConversationSummary>({ hostKey, ...conversation }: T) => ({
    ...conversation,
    ...(byKey.get(hostKey ?? '') ?? { hostId: null, host: null }),
  })
}
