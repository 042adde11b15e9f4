import type { McpServer } from '@modelcontextprotocol/server'

/** Registers a tool with a constant result, so that benchmarks measure only the path to the tool. */
export const registerConstantTool = (server: McpServer): void => {
  server.registerTool('constant', { description: 'Says the same each time.' }, async () => ({
    content: [{ type: 'text', text: 'always' }],
  }))
}
