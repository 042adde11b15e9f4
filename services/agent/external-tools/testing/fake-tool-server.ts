import { createServer, type ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'

/** An MCP server on its own port, which tests use as an external server. */
export interface FakeToolServer extends AsyncDisposable {
  endpoint: string
  /** The number of requests of any kind. */
  requests: number
  /** The header fields of each request, as JSON. */
  headers: string[]
  /** If set, handles all requests instead of the MCP server. */
  instead: ((response: ServerResponse) => void) | undefined
}

/** Starts a server with the tools that `offer` registers. */
export const startFakeToolServer = async (
  offer: (server: McpServer) => void,
  instead?: FakeToolServer['instead'],
): Promise<FakeToolServer> => {
  const handle = toNodeHandler(
    createMcpHandler(() => {
      const server = new McpServer({ name: 'fake', version: '1.0.0' })
      offer(server)
      return server
    }),
  )
  const headers: string[] = []
  const fake = { requests: 0, headers, instead }
  const server = createServer((request, response) => {
    fake.requests += 1
    headers.push(JSON.stringify(request.headers))
    if (fake.instead) fake.instead(response)
    else void handle(request, response)
  })
  const { origin, stop } = await listenOnLoopback(server)
  return Object.assign(fake, {
    endpoint: `${origin}/mcp`,
    [Symbol.asyncDispose]: stop,
  })
}
