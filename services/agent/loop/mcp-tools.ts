import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { mcp } from '#proto/mcp.ts'
import type { AgentTool } from '../tool.ts'

/** Tools of the tool server that every question may need. */
const core: ReadonlySet<string> = new Set([
  'query',
  'list_databases',
  'list_tables',
  'get_table_schema',
  'explore_table_schema',
  'get_metrics',
])

/** The tools of the tool server, asked for over the bus in the name of whoever asks the agent. */
export const mcpTools = async (client: Client<typeof mcp>, call: Call): Promise<AgentTool[]> => {
  const listed = await client.tools({}, call)
  return listed.map(({ name, title, description, inputSchema }) => ({
    name,
    title,
    description,
    input: z.looseObject({}),
    inputSchema,
    kind: 'read',
    core: core.has(name),
    untrusted: false,
    run: async (given, asking) => {
      const asked = { name, arguments: Arguments.parse(given), hostKey: asking.hostKey }
      const { evidence = [], ...answer } = await asking.mcp.call(asked, asking.call)
      return evidence.length > 0 ? { ...answer, evidence } : answer
    },
  }))
}

const Arguments = z.record(z.string(), z.unknown())
