import type { Logger } from 'pino'
import { z } from 'zod'
import type { AgentQuestion } from '#proto/agent.ts'
import type { CallContext } from '#proto/call.ts'
import type { ServiceClient } from '#proto/contract.ts'
import type { mcp, McpTool } from '#proto/mcp.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Tool } from '#shared/tools/tool.ts'
import { controlTools, mayRequestChanges } from './approvals/control-tools.ts'

/** A tool that the model may call: one of this service, of the product's MCP server or of an external server. */
export interface AgentTool extends Tool {
  /** The JSON Schema of the input, if another process validates the arguments. */
  inputSchema?: Record<string, unknown>
  /** Set for tools of the kind `egress`. */
  egress?: EgressTool
}

/** The additional properties of a tool that sends its arguments to an external server. */
export interface EgressTool {
  server: { id: string; name: string }
  /** Returns whether the operator allows this call without an approval. */
  isAllowed(input: unknown): boolean
  /** Returns the hosts that the operator allows. Their names in arguments do not count as host text. */
  allowedHosts(): readonly string[]
  /** Throws `ServiceError` if the call is not permitted even with an approval. */
  requireCallable(input: unknown): void
}

/** A source of tools: returns the tools that it offers for a question. */
export type ToolSource = (question: AgentQuestion, call: CallContext) => Promise<readonly AgentTool[]>

/** Dependencies of `combineToolSources`. */
interface ToolSources {
  env: Environment
  /** Sources in order of precedence. If several tools have the same name, the first one is used. */
  from: readonly ToolSource[]
  log: Logger
}

/** Combines the tools of all sources, which are queried concurrently. A failed source is logged and omitted. */
export const combineToolSources =
  ({ env, from, log }: ToolSources): ToolSource =>
  async (question, call) => {
    const made = await Promise.allSettled(from.map((make) => make(question, call)))
    call.signal.throwIfAborted()
    for (const each of made) {
      if (each.status === 'rejected') log.warn({ err: each.reason }, 'loading tools failed')
    }
    const tools = made.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    return [...tools, ...(mayRequestChanges(call, env) ? controlTools : [])]
  }

/** Cache lifetime of the tool list, in milliseconds. The list can change when the MCP server is upgraded. */
const cacheMs = 10_000

/**
 * Returns a function that lists the tools of the MCP server. The list is the same for all users and is cached. Calls of
 * the tools run with the identity of the agent's caller.
 */
export const openMcpToolSource = (
  client: ServiceClient<typeof mcp>,
  clock: Clock,
): ((call: CallContext) => Promise<AgentTool[]>) => {
  let known: { tools: AgentTool[]; untilMs: number } | undefined
  return async (call) => {
    if (known === undefined || known.untilMs < clock.elapsedMs()) {
      const listed = await client.tools({}, call)
      known = { tools: listed.map((tool) => wrapMcpTool(client, tool)), untilMs: clock.elapsedMs() + cacheMs }
    }
    return known.tools
  }
}

/** Wraps a tool of the MCP server. The server checks the features of the caller and the arguments itself. */
const wrapMcpTool = (client: ServiceClient<typeof mcp>, tool: McpTool): AgentTool => ({
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
