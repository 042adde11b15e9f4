import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { noQuery } from '#proto/http/parameters.ts'
import { longestMcpBody, mcpRequestHeaders } from '#proto/mcp.ts'
import { refuseSession } from '../connections/session-token.ts'
import type { Route } from '../route.ts'
import { toolServerChallenge } from '../tool-server/challenge.ts'
import { identifyToolCaller } from '../tool-server/identify.ts'

/** The tool server in both eras of its protocol: what is said in it passes through unread. */
const toolServer = (method: 'GET' | 'POST' | 'DELETE', doc: string, refuses: Route['refuses']): Route => ({
  method,
  path: '/api/mcp',
  doc,
  refuses,
  downloads: ['text/event-stream'],
  feature: 'MCP',
  access: 'own-bearer',
  limit: 'mcp',
  query: noQuery,
  answer: z.looseObject({ jsonrpc: z.literal('2.0') }),
  identify: identifyToolCaller,
  challenge: toolServerChallenge,
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

/** One address, and what the eras of the protocol do with each method. */
export const mcpRoutes: readonly Route[] = [
  toolServer('POST', 'Answers one JSON-RPC message of the Model Context Protocol', [415]),
  toolServer('GET', 'Refuses to open a stream of events, since there are no sessions', [405]),
  toolServer('DELETE', 'Refuses to end a session, since there are none', [405]),
]
