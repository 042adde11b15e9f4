import { McpServer } from '@modelcontextprotocol/server'
import type { Call } from '#proto/call.ts'
import type { CallTool } from '../call-tool.ts'
import type { Tool } from '../tool.ts'
import { told } from './schemas.ts'

const minuteMs = 60_000
const forAll = { ttlMs: 5 * minuteMs, cacheScope: 'public' } as const

/** What whoever connects is told of the whole. */
const instructions =
  'Read-only access to monitored ClickHouse hosts. Every tool takes hostId, the position of a host in the list; 0 is the first.'

interface ServerOptions {
  tools: readonly Tool[]
  version: string
  callTool: CallTool
}

/** A server for the calls of one request; what is told of the tools is made once. */
export const openServers = ({ tools, version, callTool }: ServerOptions): ((call: Call) => McpServer) => {
  const entries = tools.map((tool) => ({ tool, config: configOf(tool) }))
  return (call) => {
    const server = new McpServer(
      { name: 'watchhouse', title: 'Watchhouse', version },
      {
        instructions,
        // What is offered never changes while a process runs.
        capabilities: { tools: { listChanged: false } },
        cacheHints: { 'server/discover': { ttlMs: 60 * minuteMs, cacheScope: 'public' }, 'tools/list': forAll },
      },
    )
    for (const { tool, config } of entries) {
      server.registerTool(tool.name, config, async (given, { mcpReq }) => {
        const signal = AbortSignal.any([call.signal, mcpReq.signal])
        const { isError, text, structured } = await callTool(tool, given, { ...call, signal })
        if (structured === null) return { isError, content: [{ type: 'text', text }] }
        // Clients of the first revisions know nothing but text.
        const json = JSON.stringify(structured)
        return {
          content: [
            { type: 'text', text },
            { type: 'text', text: json },
          ],
          structuredContent: structured,
        }
      })
    }
    return server
  }
}

const configOf = ({ title, description, input, output }: Tool) => ({
  title,
  description,
  inputSchema: told(input, 'input'),
  outputSchema: told(output, 'output'),
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
})
