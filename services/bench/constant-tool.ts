import type { McpServer } from '@modelcontextprotocol/server'

/** A tool that always says the same, so that nothing is measured but the way to it. */
export const offerConstant = (server: McpServer): void => {
  server.registerTool('constant', { description: 'Says the same each time.' }, async () => ({
    content: [{ type: 'text', text: 'always' }],
  }))
}
