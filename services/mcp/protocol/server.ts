import { McpServer } from '@modelcontextprotocol/server'
import type { Call } from '#proto/call.ts'
import type { AskingFor } from '../asking.ts'
import type { CallTool } from '../call-tool.ts'
import type { Prompt } from '../prompts/prompts.ts'
import type { Facts, Reference } from '../resources/resource.ts'
import type { Tool } from '../tool.ts'
import { offerResources } from './offer-resources.ts'
import { openToolOffer } from './offer-tools.ts'

const minuteMs = 60_000
const forAll = { ttlMs: 5 * minuteMs, cacheScope: 'public' } as const

/** What whoever connects is told of the whole. */
const instructions =
  'Read-only access to monitored ClickHouse hosts. Every tool takes hostId, the position of a host in the list; 0 is the first.'

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

interface ServerOptions {
  tools: readonly Tool[]
  facts: readonly Facts[]
  references: readonly Reference[]
  prompts: readonly Prompt[]
  version: string
  callTool: CallTool
  askingFor: AskingFor
}

/** A server for the calls of one request. */
export const openServers = (offered: ServerOptions): ((call: Call) => McpServer) => {
  const offerTools = openToolOffer(offered.tools, offered.callTool)
  return (call) => {
    const server = new McpServer({ name: 'watchhouse', title: 'Watchhouse', version: offered.version }, options)
    offerTools(server, call)
    offerResources(server, call, offered)
    offerPrompts(server, offered.prompts)
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
