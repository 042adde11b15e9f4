import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { McpInfo, ServerCard } from '#proto/http/mcp.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { longestMcpBody, mcpRequestHeaders, mcpVersions } from '#proto/mcp.ts'
import { whenAvailable } from '#shared/bus/when-available.ts'
import { toolServerChallenge, identifyToolCaller, isOpenToAll } from '../agent/callers.ts'
import { refuseSession } from '../connections/hosts-of.ts'
import type { Gateway } from '../gateway.ts'
import { textOf } from '../request/read-body.ts'
import { success } from '../response/envelope.ts'
import { type Route, getRoute } from '../http-route.ts'

const common = {
  path: '/api/mcp',
  feature: 'MCP',
  access: 'own-bearer',
  secretOnly: true,
  limit: 'mcp',
  query: noQuery,
  identify: identifyToolCaller,
  challenge: toolServerChallenge,
} as const

/** The tool server in both eras of its protocol: its messages pass through unread. */
const toolServer = (
  method: 'GET' | 'POST' | 'DELETE',
  traits: Pick<Route, 'doc' | 'answer'> & Partial<Route>,
): Route => ({
  ...common,
  ...traits,
  method,
  async respond({ headers, call, readBody }, { mcp }, reply) {
    refuseSession(headers)
    const body = textOf(await readBody(longestMcpBody))
    const asked = { method, headers: spoken(headers), body, wholeInHead: true }
    const { head, frames } = await mcp.http(asked, call)
    const { status, headers: answered, whole } = head
    await reply.handOn({ status, headers: answered, body: whole ?? frames })
  },
})

const spoken = (headers: IncomingHttpHeaders): Record<string, string> => {
  const said: Record<string, string> = {}
  for (const name of mcpRequestHeaders) if (headers[name] !== undefined) said[name] = String(headers[name])
  return said
}

const Message = z.looseObject({ jsonrpc: z.literal('2.0') })
const noSessions = { answer: z.never(), jsonRpc: [405] } as const

/** One address, and what the eras of the protocol do with each method. */
export const mcpRoutes: readonly Route[] = [
  toolServer('POST', {
    doc: 'Answers one JSON-RPC message of the Model Context Protocol',
    reads: { mediaTypes: ['application/json'], schema: z.union([Message, z.array(Message)]) },
    answer: z.union([Message, z.array(Message)]),
    downloads: ['text/event-stream'],
    taken: 'A notification or a response, which needs no answer.',
    jsonRpc: [400, 404, 415],
  }),
  toolServer('GET', { ...noSessions, doc: 'Refuses to open a stream of events, since there are no sessions' }),
  toolServer('DELETE', { ...noSessions, doc: 'Refuses to end a session, since there are none' }),
]

const endpoint = '/api/mcp'

export const mcpInfo = getRoute({
  path: '/api/v1/mcp/info',
  doc: 'Whether the tool server answers, and the tools, resources and prompts that it offers',
  feature: 'MCP',
  access: 'read',
  limit: 'data',
  query: noQuery,
  answer: McpInfo,
  handle: async ({ call, publicUrl }, gateway) => {
    const offer = await offerOf(gateway, call)
    const info = {
      status: offer ? ('connected' as const) : ('unavailable' as const),
      version: gateway.version,
      toolCount: offer?.tools.length ?? null,
      resourceCount: offer?.resources.length ?? null,
      promptCount: offer?.prompts.length ?? null,
      offer: offer ?? null,
    }
    return success(info, { url: `${publicUrl()}${endpoint}` })
  },
})

/** That the tool server does not run is an answer here like any other. */
const offerOf = ({ mcp }: Gateway, call: Call) => whenAvailable(() => mcp.offer({}, call))

const fixed = { listChanged: false }

export const serverCard = getRoute({
  path: '/.well-known/mcp/server-card.json',
  doc: 'What the tool server is, where it is, and what it speaks',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: ServerCard,
  keptForSeconds: 3_600,
  handle: async ({ publicUrl }, gateway) => {
    if (!gateway.policy().permissions.MCP.enabled) throw new ServiceError('not-found', 'there is no tool server here')
    const { version } = gateway
    const url = `${publicUrl()}${endpoint}`
    return {
      $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
      name: 'io.watchhouse/watchhouse',
      title: 'Watchhouse',
      description: 'Read-only access of models to monitored ClickHouse hosts',
      version,
      serverInfo: { name: 'watchhouse', title: 'Watchhouse', version },
      remotes: [{ type: 'streamable-http' as const, url, supportedProtocolVersions: [...mcpVersions] }],
      transport: { type: 'streamable-http' as const, endpoint },
      capabilities: { tools: fixed, resources: fixed, prompts: fixed },
      authentication: { required: !isOpenToAll(gateway), schemes: ['bearer'] },
    }
  },
})
