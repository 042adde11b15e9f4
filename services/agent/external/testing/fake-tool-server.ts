import { createServer, type ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { onLoopback } from '#shared/net/testing/on-loopback.ts'

/** A tool server of somebody else on a port of its own, spoken to as the library of the protocol speaks. */
export interface FakeToolServer extends AsyncDisposable {
  endpoint: string
  /** How many requests came in, of whatever kind. */
  requests: number
  /** Header fields of all of them, one after the other. */
  headers: string[]
  /** Answers in its place, as a server that is none. */
  instead: ((response: ServerResponse) => void) | undefined
}

/** Starts a server that offers what `offer` says. */
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
  const { origin, stop } = await onLoopback(server)
  return Object.assign(fake, {
    endpoint: `${origin}/mcp`,
    [Symbol.asyncDispose]: stop,
  })
}
