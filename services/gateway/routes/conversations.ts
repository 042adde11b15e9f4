import { z } from 'zod'
import type { Call, Identity } from '#proto/call.ts'
import type { Conversation, ConversationSummary } from '#proto/conversations.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  ConversationAnswer,
  ConversationBackendAnswer,
  ConversationPath,
  ConversationsAnswer,
  ConversationsQuery,
  FollowUpsAnswer,
  KeepConversationAnswer,
  KeepConversationRequest,
  RemoveConversationsAnswer,
} from '#proto/http/conversations.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { read } from '#shared/config/setting.ts'
import { providerOf } from '../auth/provider.ts'
import { conversationFeatureSettings } from '../features/config.ts'
import type { Gateway } from '../gateway.ts'
import type { HostList } from '../hosts/host-list.ts'
import { deleteRoute, getRoute, putRoute, type Route } from '../http-route.ts'
import { parse } from '../request/parse.ts'
import { success } from '../response/envelope.ts'

const path = '/api/v1/conversations'
const one = `${path}/{id}` as const
const reading = { feature: 'AGENT', access: 'read', limit: 'data' } as const
const writing = { feature: 'AGENT', access: 'write', limit: 'data', query: noQuery } as const

const backend = getRoute({
  ...reading,
  path: `${path}/backend`,
  doc: 'Where conversations of the caller are kept, and whether titles and follow-up questions are generated',
  query: noQuery,
  answer: ConversationBackendAnswer,
  handle: async ({ call }, gateway) => {
    const inBrowser = notKeptHere(gateway, call.identity) !== undefined
    return inBrowser
      ? { backend: 'browser' as const, supportsAiEnrichment: false }
      : gateway.agent.conversationBackend({}, call)
  },
})

const list = getRoute({
  ...reading,
  path,
  doc: 'Conversations of the caller, those changed last first',
  query: ConversationsQuery,
  answer: ConversationsAnswer,
  handle: async ({ query, call }, gateway) => {
    requireKeptHere(gateway, call.identity)
    const { conversations, next } = await gateway.agent.conversations(query, call)
    const shown = await showing(gateway.hosts)
    return success(conversations.map(shown), { count: conversations.length, next })
  },
})

const get = getRoute({
  ...reading,
  path: one,
  doc: 'One conversation of the caller, with its messages and evidence',
  query: noQuery,
  answer: ConversationAnswer,
  handle: async ({ path: given, call }, gateway) => {
    requireKeptHere(gateway, call.identity)
    const conversation = await gateway.agent.conversation(parse(ConversationPath, given), call)
    return success((await showing(gateway.hosts))(conversation), {})
  },
})

const keep = putRoute({
  ...writing,
  path: one,
  doc: 'Keeps a conversation of the caller, whole, in place of the one that has its id',
  body: KeepConversationRequest,
  answer: KeepConversationAnswer,
  handle: async ({ path: given, body: { hostId, ...body }, call }, gateway) => {
    requireKeptHere(gateway, call.identity)
    const { id } = parse(ConversationPath, given)
    const hostKey = hostId === null ? null : (await gateway.hosts.find(hostId)).key
    const { created, conversation } = await gateway.agent.keepConversation({ ...body, id, hostKey }, call)
    return success((await showing(gateway.hosts))(conversation), { created })
  },
})

const remove = deleteRoute({
  ...writing,
  path: one,
  doc: 'Removes one conversation of the caller',
  answer: RemoveConversationsAnswer,
  handle: async ({ path: given, call, requestId }, gateway) => {
    requireKeptHere(gateway, call.identity)
    const { id } = parse(ConversationPath, given)
    const deed = { action: 'remove-conversation', host: null, target: { id } }
    await gateway.audit.of(deed, { call, requestId }, () => gateway.agent.removeConversation({ id }, call))
    return success({ removed: 1 }, {})
  },
})

const removeAll = deleteRoute({
  ...writing,
  path,
  doc: 'Removes every conversation of the caller',
  answer: RemoveConversationsAnswer,
  handle: async ({ call, requestId }, gateway) => {
    requireKeptHere(gateway, call.identity)
    const deed = { action: 'remove-conversations', host: null, target: {} }
    const removed = await gateway.audit.of(deed, { call, requestId }, () => gateway.agent.removeConversations({}, call))
    return success(removed, {})
  },
})

const followUps = getRoute({
  ...reading,
  path: `${one}/follow-ups`,
  doc: 'Questions that the caller may want to ask next, as a language model puts them',
  // Each asks a model.
  limit: 'agent',
  query: noQuery,
  answer: FollowUpsAnswer,
  handle: async ({ path: given, call }, gateway) => {
    requireKeptHere(gateway, call.identity)
    return success(await gateway.agent.followUps(parse(ConversationPath, given), call), {})
  },
})

const mediaType = 'application/x-ndjson'

/** As many pages as hold all that one person may have, and some more. */
const mostPages = 1_000

const exportConversations: Route = {
  method: 'GET',
  path: '/api/v1/conversations/export',
  doc: 'Every conversation of the caller as a file, one JSON object a line, those changed last first',
  feature: 'AGENT',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: z.string(),
  mediaType,
  async respond({ call }, gateway, reply) {
    requireKeptHere(gateway, call.identity)
    const shown = await showing(gateway.hosts)
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

async function* everyConversation({ agent }: Gateway, call: Call): AsyncGenerator<Conversation, void, void> {
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const { conversations, next } = await agent.exportConversations({ ...(cursor && { cursor }) }, call)
    yield* conversations
    if (next === null) return
    cursor = next
  }
}

/** Conversations with the agent, of each person alone. */
export const conversationRoutes: readonly Route[] = [
  backend,
  exportConversations,
  list,
  removeAll,
  get,
  keep,
  remove,
  followUps,
]

type Place = Pick<Gateway, 'env' | 'build'>

const built = { CLIENT_FEATURE_CONVERSATION_DB: conversationFeatureSettings.SVC_FEATURE_CONVERSATION_DB }

/** Why the conversations of a caller live in its browser; undefined when they are kept here. */
const notKeptHere = ({ env, build }: Place, { kind }: Identity): ServiceError | undefined => {
  const CLIENT_FEATURE_CONVERSATION_DB = build?.client.CLIENT_FEATURE_CONVERSATION_DB ?? undefined
  if (!read(built, { CLIENT_FEATURE_CONVERSATION_DB }).CLIENT_FEATURE_CONVERSATION_DB) {
    return missing('the web was built without SVC_FEATURE_CONVERSATION_DB')
  }
  if (providerOf(env, build) !== 'idp') return missing('people do not sign in by an identity provider')
  return kind === 'user' ? undefined : new ServiceError('unauthenticated', 'sign in to keep conversations')
}

/** Throws `not-implemented`, or `unauthenticated` for callers who are no signed-in person. */
const requireKeptHere = (place: Place, identity: Identity): void => {
  const reason = notKeptHere(place, identity)
  if (reason) throw reason
}

const missing = (what: string): ServiceError =>
  new ServiceError('not-implemented', `conversations live in the browser here: ${what}`)

/** How callers see conversations: keys of hosts stay inside, as callers know hosts by their position and name. */
const showing = async (hosts: HostList) => {
  const byKey = new Map((await hosts.all()).map(({ key, id, name }) => [key, { hostId: id, host: name }]))
  return <T extends ConversationSummary>({ hostKey, ...conversation }: T) => ({
    ...conversation,
    ...(byKey.get(hostKey ?? '') ?? { hostId: null, host: null }),
  })
}
