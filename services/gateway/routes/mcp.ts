import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { McpInfo, ServerCard } from '#proto/http/mcp.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { maxMcpBodyBytes, mcpRequestHeaders, mcpVersions } from '#proto/mcp.ts'
import { ignoreUnavailable } from '#shared/bus/failure.ts'
import { createMcpChallenge, identifyMcpCaller, isMcpPublic } from '../agent/callers.ts'
import { rejectConnectionSession } from '../connections/caller-hosts.ts'
import type { Gateway } from '../gateway.ts'
import { parseRequestInput } from '../request/parse.ts'
import { decodeBody, parseJsonBody } from '../request/read-body.ts'
import { createSuccessBody } from '../response/envelope.ts'
import type { Reply } from '../response/http-reply.ts'
import { type RawRequest, type Route, defineGetRoute } from '../http-route.ts'

const common = {
  path: '/api/mcp',
  feature: 'MCP',
  access: 'own-bearer',
  secretOnly: true,
  limit: 'mcp',
  query: noQuery,
  identify: identifyMcpCaller,
  challenge: createMcpChallenge,
} as const

/** Returns a route that forwards requests to the MCP server, for both transport versions, without parsing them. */
const mcpRoute = (
  method: 'GET' | 'POST' | 'DELETE',
  traits: Pick<Route, 'doc' | 'answer'> & Partial<Route>,
): Route => ({
  ...common,
  ...traits,
  method,
  async respond(request, { mcp }, reply) {
    rejectConnectionSession(request.headers)
    await forwardMessage(method, request, decodeBody(await request.readBody(maxMcpBodyBytes)), { mcp, reply })
  },
})

/** Sends a message to the MCP server and forwards its response. */
const forwardMessage = async (
  method: 'GET' | 'POST' | 'DELETE',
  { headers, call }: Pick<RawRequest, 'headers' | 'call'>,
  body: string,
  { mcp, reply }: { mcp: Gateway['mcp']; reply: Reply },
): Promise<void> => {
  const { head, frames } = await mcp.http({ method, headers: mcpHeadersOf(headers), body, wholeInHead: true }, call)
  const { status, headers: responseHeaders, whole } = head
  await reply.forward({ status, headers: responseHeaders, body: whole ?? frames })
}

const mcpHeadersOf = (headers: IncomingHttpHeaders): Record<string, string> => {
  const forwarded: Record<string, string> = {}
  for (const name of mcpRequestHeaders) if (headers[name] !== undefined) forwarded[name] = String(headers[name])
  return forwarded
}

const Message = z.looseObject({ jsonrpc: z.literal('2.0') })
const noSessions = { answer: z.never(), jsonRpc: [405] } as const

/** Routes of the MCP endpoint. */
export const mcpRoutes: readonly Route[] = [
  mcpRoute('POST', {
    doc: 'Handles one JSON-RPC message of the Model Context Protocol',
    reads: { mediaTypes: ['application/json'], schema: z.union([Message, z.array(Message)]) },
    answer: z.union([Message, z.array(Message)]),
    downloads: ['text/event-stream'],
    taken: 'A notification or a response was accepted.',
    jsonRpc: [400, 404, 415],
  }),
  mcpRoute('GET', { ...noSessions, doc: 'Returns 405: the server is stateless and offers no event stream' }),
  mcpRoute('DELETE', { ...noSessions, doc: 'Returns 405: the server is stateless and has no sessions' }),
]

/**
 * Forwards a message of the web UI with the session of its user. `/api/mcp` accepts no sessions, because pages of every
 * site may call it.
 */
export const mcpPlaygroundRoute: Route = {
  method: 'POST',
  path: '/api/v1/mcp/messages',
  doc: 'Handles one JSON-RPC message of the Model Context Protocol for the web UI, with the session of the user',
  feature: 'MCP',
  access: 'write',
  limit: 'mcp',
  query: noQuery,
  reads: { mediaTypes: ['application/json'], schema: Message },
  answer: Message,
  taken: 'A notification or a response was accepted.',
  jsonRpc: [400, 404, 415],
  async respond(request, { mcp }, reply) {
    rejectConnectionSession(request.headers)
    const body = await request.readBody(maxMcpBodyBytes)
    // Pages of other sites can send all other media types without a preflight request.
    parseRequestInput(Message, parseJsonBody(body, request.headers['content-type']))
    await forwardMessage('POST', request, decodeBody(body), { mcp, reply })
  },
}

const endpoint = '/api/mcp'

export const mcpInfoRoute = defineGetRoute({
  path: '/api/v1/mcp/info',
  doc: 'Returns whether the MCP server is available, and its tools, resources and prompts',
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
    return createSuccessBody(info, { url: `${publicUrl()}${endpoint}` })
  },
})

/** Returns the tools, resources and prompts of the MCP server; undefined while the server is unavailable. */
const offerOf = ({ mcp }: Gateway, call: CallContext) => ignoreUnavailable(() => mcp.offer({}, call))

const staticList = { listChanged: false }

export const serverCardRoute = defineGetRoute({
  path: '/.well-known/mcp/server-card.json',
  doc: 'Describes the MCP server: address, protocol versions and capabilities',
  feature: null,
  access: 'anonymous',
  limit: 'data',
  query: noQuery,
  answer: ServerCard,
  cacheForSeconds: 3_600,
  handle: async ({ publicUrl }, gateway) => {
    if (!gateway.policy().permissions.MCP.enabled) throw new ServiceError('not-found', 'the MCP server is disabled')
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
      capabilities: { tools: staticList, resources: staticList, prompts: staticList },
      authentication: { required: !isMcpPublic(gateway), schemes: ['bearer'] },
    }
  },
})
