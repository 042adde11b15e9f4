import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { noQuery } from '#proto/http/parameters.ts'
import { longestMcpBody, mcpRequestHeaders } from '#proto/mcp.ts'
import { refuseSession } from '../connections/session-token.ts'
import type { Route } from '../route.ts'
import { toolServerChallenge } from '../tool-server/challenge.ts'
import { identifyToolCaller } from '../tool-server/identify.ts'

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
    const body = await readBody(longestMcpBody)
    const asked = { method, headers: spoken(headers), body: body.toString('base64'), wholeInHead: true }
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
