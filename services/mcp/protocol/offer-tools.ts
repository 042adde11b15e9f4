import type { CallToolResult, McpServer, Server } from '@modelcontextprotocol/server'
import type { Call } from '#proto/call.ts'
import type { CallTool } from '../call-tool.ts'
import { annotationsOf, type Tool } from '#shared/tools/tool.ts'
import { told } from './schemas.ts'

/** Offers the tools to the calls of one request; what is told of them is made once. */
export const openToolOffer = (
  tools: readonly Tool[],
  callTool: CallTool,
): ((server: McpServer, call: Call) => void) => {
  const entries = tools.map((tool) => ({ tool, config: configOf(tool) }))
  return (server, call) => {
    for (const { tool, config } of entries) {
      server.registerTool(tool.name, config, (given) => resultOf(tool, callTool, given, call))
    }
  }
}

/** Has a server answer calls of one tool, and nothing else. */
export const answerCall = (server: Server, tool: Tool, callTool: CallTool, call: Call): Server => {
  server.setRequestHandler('tools/call', ({ params }) => resultOf(tool, callTool, params.arguments ?? {}, call))
  return server
}

/** Each request has a server of its own, so nothing but its caller's leaving can end it. */
const resultOf = async (tool: Tool, callTool: CallTool, given: unknown, call: Call): Promise<CallToolResult> => {
  const { isError, text, structured } = await callTool(tool, given, call)
  const sentence = { type: 'text' as const, text }
  if (structured === null) return { isError, content: [sentence] }
  // Clients of the first revisions know nothing but text.
  const json = { type: 'text' as const, text: JSON.stringify(structured) }
  return { content: [sentence, json], structuredContent: structured }
}

const configOf = ({ title, description, kind, input, output }: Tool) => ({
  title,
  description,
  inputSchema: told(input, 'input'),
  ...(output && { outputSchema: told(output, 'output') }),
  annotations: annotationsOf({ kind }),
})
