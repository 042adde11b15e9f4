import {
  McpServer,
  Server,
  type ServerOptions as ProtocolOptions,
  type Transport,
  type JSONRPCMessage,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { parseJson } from '#shared/text/parse-json.ts'
import type { Tool } from '#shared/tools/tool.ts'
import type { CallTool } from '../call-tool.ts'
import type { ContextFor } from '../context.ts'
import type { Prompt } from '../prompts/prompts.ts'
import type { Facts, Reference } from '../resources/resources.ts'
import type { OfferSkills } from '../skills/skills.ts'
import { offerResources } from './offer-resources.ts'
import { answerCall, openToolOffer } from './offer-tools.ts'
import type { Part } from './part.ts'

/** Offers something by name, for the one request that it answers. */
class ServerOfRequest extends McpServer {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport)
    attend(transport)
  }
}

/**
 * Answers one call. What the library keeps of things offered by name outlives the request until all memory is looked through, with all
 * that they reach, and calls are most of what is asked.
 */
class ServerOfCall extends Server {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport)
    attend(transport)
  }
}

/** Exact about what callers did wrong; closed as soon as it has answered, when the library makes an error for those who still wait: without a stack, as nobody does. */
const attend = (transport: Transport): void => {
  refuseInvalidParams(transport)
  const { onclose } = transport
  // A transport is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onclose = () => {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      onclose?.()
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }
}

const minuteMs = 60_000
const forAll = { ttlMs: 5 * minuteMs, cacheScope: 'public' } as const

/** What whoever connects is told of the whole. */
const instructions =
  'Read-only access to monitored ClickHouse hosts. Every tool takes hostId, the position of a host in the list; 0 is the first, and one that is not there is answered with those that are.'

/** What is offered never changes while a process runs. */
const fixed = { listChanged: false }
const options = {
  instructions,
  capabilities: { tools: fixed, resources: fixed, prompts: fixed, completions: {} },
  cacheHints: {
    'server/discover': { ttlMs: 60 * minuteMs, cacheScope: 'public' as const },
    'tools/list': forAll,
    'prompts/list': forAll,
    'resources/list': forAll,
    'resources/templates/list': forAll,
  },
}

/** What a server offers besides ours. Nothing in the product does: the suite that checks the protocol wants tools of its own. */
export interface Further {
  options: ProtocolOptions
  /** Whether a tool of it tells anything before its answer. */
  tellsOnTheWay: boolean
  offer(server: McpServer): void
}

interface ServerOptions {
  tools: readonly Tool[]
  facts: readonly Facts[]
  references: readonly Reference[]
  prompts: readonly Prompt[]
  offerSkills: OfferSkills
  version: string
  callTool: CallTool
  contextFor: ContextFor
  further?: Further | undefined
}

/** A server for the calls of one request, with the part of the offer that it asks for. */
export type ServerFor = (call: Call, part: Part) => McpServer | Server

export const openServers = (offered: ServerOptions): ServerFor => {
  const { further } = offered
  const offerTools = openToolOffer(offered.tools, offered.callTool)
  const facts = { name: 'watchhouse', title: 'Watchhouse', version: offered.version }
  return (call, part) => {
    const all = { ...options, ...further?.options }
    const called = part.kind === 'tool' ? offered.tools.find((tool) => tool.name === part.name) : undefined
    if (called) return answerCall(new ServerOfCall(facts, all), called, offered.callTool, call)
    const asksFor = (kind: Part['kind']) => part.kind === kind || part.kind === 'all'
    const server = new ServerOfRequest(facts, all)
    if (asksFor('tools')) offerTools(server, call)
    if (asksFor('resources')) offerResources(server, call, offered)
    if (asksFor('prompts')) offerPrompts(server, offered.prompts)
    if (asksFor('resources')) offered.offerSkills(server, call)
    further?.offer(server)
    return server
  }
}

const offerPrompts = (server: McpServer, prompts: readonly Prompt[]): void => {
  for (const { name, title, description, arguments: argsSchema, text } of prompts) {
    server.registerPrompt(name, { title, description, argsSchema }, (given) => ({
      messages: [{ role: 'user', content: { type: 'text', text: text(given) } }],
    }))
  }
}

/** Lists that are answered whole, so that no cursor of ours is ever around. */
const lists: ReadonlySet<string> = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** How the library words a message whose parameters are of another shape. */
const listedProblems = /^(?:Invalid \S+ request: )?(?<problems>\[\s*\{.*\])$/s
const Problems = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))

/**
 * Parameters that do not fit are the caller's error, and named in words: the library answers some of them as an error of its own
 * with the problems as JSON text, and takes any cursor for the first page.
 */
const refuseInvalidParams = (transport: Transport): void => {
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  transport.send = (message, options) => send(worded(message), options)
  // A transport is no event target.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message, extra) => {
    if (isRequest(message) && lists.has(message.method) && message.params?.cursor !== undefined) {
      void send(invalid(message.id, 'cursor is of no list here: each is answered whole'))
    } else onmessage?.(message, extra)
  }
}

const isRequest = (message: JSONRPCMessage) => 'method' in message && 'id' in message

const worded = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!('error' in message) || message.id === undefined) return message
  const sentence = wordsOf(message.error.message)
  return sentence === undefined ? message : invalid(message.id, sentence)
}

const wordsOf = (text: string): string | undefined => {
  const { problems } = listedProblems.exec(text)?.groups ?? {}
  if (problems === undefined) return undefined
  const found = Problems.safeParse(parseJson(problems)).data
  return found?.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}

const invalid = (id: string | number, sentence: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${sentence}` },
})
