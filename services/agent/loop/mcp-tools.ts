import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { mcp, McpTool } from '#proto/mcp.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { AgentTool } from '../tool.ts'

/** How long the list is used; another release of the tool server may have another. */
const freshMs = 10_000

/** The tools of the tool server, which it lists for everybody alike, and runs in the name of the caller of the agent. */
export const openMcpTools = (client: Client<typeof mcp>, clock: Clock): ((call: Call) => Promise<AgentTool[]>) => {
  let known: { tools: AgentTool[]; untilMs: number } | undefined
  return async (call) => {
    if (known === undefined || known.untilMs < clock.elapsedMs()) {
      const listed = await client.tools({}, call)
      known = { tools: listed.map((tool) => asTool(client, tool)), untilMs: clock.elapsedMs() + freshMs }
    }
    return known.tools
  }
}

/** The same definition as at the tool server, which checks feature and arguments itself. */
const asTool = (client: Client<typeof mcp>, tool: McpTool): AgentTool => ({
  ...tool,
  feature: null,
  kind: 'read',
  input: z.looseObject({}),
  run: async (given, { call, hostKey }) => {
    const { evidence = [], ...answer } = await client.call(
      { name: tool.name, arguments: Arguments.parse(given), hostKey },
      call,
    )
    return evidence.length > 0 ? { ...answer, evidence } : answer
  },
})

const Arguments = z.record(z.string(), z.unknown())
