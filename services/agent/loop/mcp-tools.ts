import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { mcp, McpTool } from '#proto/mcp.ts'
import type { Clock } from '#shared/time/clock.ts'
import { ofHost } from '../read-tool.ts'
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

/** How long the list is believed; another release of the tool server may have another. */
const freshMs = 10_000

/** The tools of the tool server, which it lists for everybody alike, and runs in the name of whoever asks the agent. */
export const openMcpTools = (client: Client<typeof mcp>, clock: Clock): ((call: Call) => Promise<AgentTool[]>) => {
  let known: { tools: AgentTool[]; untilMs: number } | undefined
  return async (call) => {
    if (known === undefined || known.untilMs < clock.elapsedMs()) {
      const listed = await client.tools({}, call)
      known = { tools: listed.map(asTool), untilMs: clock.elapsedMs() + freshMs }
    }
    return known.tools
  }
}

const asTool = ({ name, title, description, inputSchema }: McpTool): AgentTool => ({
  name,
  title,
  description,
  input: z.looseObject({}),
  inputSchema: withUsualHost(inputSchema),
  kind: 'read',
  core: core.has(name),
  untrusted: false,
  run: async (given, asking) => {
    const asked = { name, arguments: Arguments.parse(given), hostKey: asking.hostKey }
    const { evidence = [], ...answer } = await asking.mcp.call(asked, asking.call)
    return evidence.length > 0 ? { ...answer, evidence } : answer
  },
})

const Schema = z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() })
const { hostId } = z.toJSONSchema(z.object(ofHost), { io: 'input' }).properties ?? {}

/** The tool server asks the first host where none is named; the agent asks the one that the conversation is about, and says so. */
const withUsualHost = (inputSchema: Record<string, unknown>): Record<string, unknown> => {
  const { properties = {}, ...schema } = Schema.parse(inputSchema)
  return { ...schema, properties: 'hostId' in properties ? { ...properties, hostId } : properties }
}

const Arguments = z.record(z.string(), z.unknown())
