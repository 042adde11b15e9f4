import type { McpServer } from '@modelcontextprotocol/server'
import type { Call } from '#proto/call.ts'
import type { CallTool } from '../call-tool.ts'
import type { Tool } from '../tool.ts'
import { told } from './schemas.ts'

/** Offers the tools, or the one of a name, to the calls of one request; what is told of them is made once. */
export const openToolOffer = (
  tools: readonly Tool[],
  callTool: CallTool,
): ((server: McpServer, call: Call, name?: string) => void) => {
  const entries = tools.map((tool) => ({ tool, config: configOf(tool) }))
  return (server, call, name) => {
    // One is enough for the protocol to say that there is none of another name.
    const wanted = name === undefined ? entries : [entries.find(({ tool }) => tool.name === name) ?? entries[0]]
    for (const { tool, config } of wanted.filter((entry) => entry !== undefined)) {
      server.registerTool(tool.name, config, async (given) => {
        // Each request has a server of its own, so nothing but its caller's leaving can end it.
        const { isError, text, structured } = await callTool(tool, given, call)
        const sentence = { type: 'text' as const, text }
        if (structured === null) return { isError, content: [sentence] }
        // Clients of the first revisions know nothing but text.
        const json = { type: 'text' as const, text: JSON.stringify(structured) }
        return { content: [sentence, json], structuredContent: structured }
      })
    }
  }
}

const configOf = ({ title, description, input, output }: Tool) => ({
  title,
  description,
  inputSchema: told(input, 'input'),
  outputSchema: told(output, 'output'),
  annotations: { readOnlyHint: true, destructiveHint: false, openWorldHint: false },
})
