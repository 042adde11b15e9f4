import {
  type JSONRPCMessage,
  McpServer,
  ProtocolErrorCode,
  Server,
  type ServerOptions as ProtocolOptions,
  type Transport,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { parseJson } from '#shared/text/strings.ts'
import type { Tool } from '#shared/tools/tool.ts'
import type { CallTool, CreateToolContext } from '../call-tool.ts'
import type { Prompt } from '../prompts/prompts.ts'
import type { HostResource, StaticResource } from '../resources/resources.ts'
import type { RegisterSkills } from '../skills/skills.ts'
import { registerPrompts } from './register-prompts.ts'
import { registerResources } from './register-resources.ts'
import { setToolCallHandler, openToolRegistration } from './register-tools.ts'
import type { RequiredFeatures } from './message-summary.ts'

/** A server for one request, with registered tools, resources or prompts. */
class RequestServer extends McpServer {
  readonly #names: OfferedNames

  constructor(facts: ServerFacts, options: ProtocolOptions, names: OfferedNames) {
    super(facts, options)
    this.#names = names
  }

  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport)
    patchTransport(transport, this.#names)
  }
}

type ServerFacts = ConstructorParameters<typeof McpServer>[0]

/**
 * A server for one tool call. It registers nothing, because registrations of the library survive the request until a
 * full garbage collection, and most requests are tool calls.
 */
class ToolCallServer extends Server {
  override async connect(transport: Transport): Promise<void> {
    await super.connect(transport)
    patchTransport(transport, { tools: [], prompts: [] })
  }
}

/**
 * Patches a transport to report invalid parameters precisely and to close faster. On close, the library creates an
 * error for pending callers. No callers are pending, so the error gets no stack trace.
 */
const patchTransport = (transport: Transport, names: OfferedNames): void => {
  refuseInvalidParams(transport, names)
  const { onclose } = transport
  // A transport is not an EventTarget.
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
const publicCacheHint = { ttlMs: 5 * minuteMs, cacheScope: 'public' } as const

/** Instructions for every client. */
const instructions =
  'Read-only access to monitored ClickHouse hosts. Every tool takes hostId, the position of a host in the list; 0 is the first. An unknown position returns the list of hosts.'

/** Lists never change while a process runs. */
const unchangingList = { listChanged: false }
const options = {
  instructions,
  capabilities: { tools: unchangingList, resources: unchangingList, prompts: unchangingList, completions: {} },
  cacheHints: {
    'server/discover': { ttlMs: 60 * minuteMs, cacheScope: 'public' as const },
    'tools/list': publicCacheHint,
    'prompts/list': publicCacheHint,
    'resources/list': publicCacheHint,
    'resources/templates/list': publicCacheHint,
  },
}

/** Additional tools of a server. Only the conformance suite and benchmarks of the protocol use them. */
export interface AdditionalTools {
  options: ProtocolOptions
  /** Whether an additional tool sends notifications before its result. */
  sendsNotifications: boolean
  offer(server: McpServer): void
}

/** The tools, resources and prompts of a server, and their dependencies. */
export interface ServerOptions {
  tools: readonly Tool[]
  facts: readonly HostResource[]
  references: readonly StaticResource[]
  prompts: readonly Prompt[]
  offerSkills: RegisterSkills
  version: string
  callTool: CallTool
  contextFor: CreateToolContext
  further?: AdditionalTools | undefined
}

/** Receives the error of a failed tool call, whose result is not a protocol error. */
export type OnToolFailure = (error: Error) => void

/** Returns a server for one request, with only the tools, resources or prompts that the request needs. */
export type CreateServer = (
  call: CallContext,
  part: RequiredFeatures,
  onToolFailure: OnToolFailure,
) => McpServer | Server

export const createServerFactory = (offered: ServerOptions): CreateServer => {
  const { further } = offered
  const offerTools = openToolRegistration(offered.tools, offered.callTool)
  const names = {
    tools: offered.tools.map(({ name }) => name),
    prompts: offered.prompts.map(({ name }) => name),
  }
  const facts = { name: 'watchhouse', title: 'Watchhouse', version: offered.version }
  return (call, part, onToolFailure) => {
    const request = { call, onToolFailure }
    const all = { ...options, ...further?.options }
    const called = part.kind === 'tool' ? offered.tools.find((tool) => tool.name === part.name) : undefined
    if (called) return setToolCallHandler(new ToolCallServer(facts, all), called, offered.callTool, request)
    const includes = (kind: RequiredFeatures['kind']) => part.kind === kind || part.kind === 'all'
    const server = new RequestServer(facts, all, names)
    if (includes('tools')) offerTools(server, request)
    if (includes('resources')) registerResources(server, call, offered)
    if (includes('prompts')) registerPrompts(server, call, offered)
    if (includes('resources')) offered.offerSkills(server, call)
    further?.offer(server)
    return server
  }
}

/** Methods that return complete lists, so that every cursor is invalid. */
const lists: ReadonlySet<string> = new Set(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])

/** Matches the error text of the library for invalid parameters, which contains JSON. */
const listedProblems = /^(?:Invalid \S+ request: )?(?<problems>\[\s*\{.*\])$/s
const Problems = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))

/**
 * Reports invalid parameters as `Invalid params` with readable problems. The library reports some of them as an
 * internal error with JSON text, and treats any cursor as the first page.
 */
const refuseInvalidParams = (transport: Transport, names: OfferedNames): void => {
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  transport.send = (message, options) => send(rewordMessage(message, names), options)
  // A transport is not an EventTarget.
  // oxlint-disable-next-line unicorn/prefer-add-event-listener
  transport.onmessage = (message, extra) => {
    if (isRequest(message) && lists.has(message.method) && message.params?.cursor !== undefined) {
      void send(createInvalidParamsError(message.id, 'cursor is not supported: lists are returned completely'))
    } else onmessage?.(message, extra)
  }
}

const isRequest = (message: JSONRPCMessage) => 'method' in message && 'id' in message

/** The names of the tools and prompts, for errors about unknown ones. */
interface OfferedNames {
  tools: readonly string[]
  prompts: readonly string[]
}

const rewordMessage = (message: JSONRPCMessage, names: OfferedNames): JSONRPCMessage => {
  if (!('error' in message) || message.id === undefined) return message
  const sentence = formatProblems(message.error.message) ?? formatUnknownName(message.error.message, names)
  return sentence === undefined ? message : createInvalidParamsError(message.id, sentence)
}

/** Matches the error text of the library for an unknown tool or prompt. */
const unknownName = /^(?<kind>Tool|Prompt) (?<name>.{1,64}) not found$/

const formatUnknownName = (text: string, { tools, prompts }: OfferedNames): string | undefined => {
  const { kind, name } = unknownName.exec(text)?.groups ?? {}
  if (kind === undefined) return undefined
  return `unknown ${kind.toLowerCase()} "${name}"; available: ${(kind === 'Tool' ? tools : prompts).join(', ')}`
}

const formatProblems = (text: string): string | undefined => {
  const { problems } = listedProblems.exec(text)?.groups ?? {}
  if (problems === undefined) return undefined
  const found = Problems.safeParse(parseJson(problems)).data
  return found?.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
}

const createInvalidParamsError = (id: string | number, sentence: string): JSONRPCMessage => ({
  jsonrpc: '2.0',
  id,
  error: { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${sentence}` },
})
