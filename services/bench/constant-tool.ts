import type { McpServer } from '@modelcontextprotocol/server'

/** A tool with a constant result, so that only the path to the tool is measured. */
export const offerConstant = (server: McpServer): void => {
  server.registerTool('constant', { description: 'Says the same each time.' }, async () => ({
    content: [{ type: 'text', text: 'always' }],
  }))
}
