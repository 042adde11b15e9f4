import type { Logger } from 'pino'
import { z } from 'zod'
import type { AgentQuestion } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { mcp, McpTool } from '#proto/mcp.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Tool } from '#shared/tools/tool.ts'
import { controlTools, mayRequestChanges } from './approvals/control-tools.ts'

/** A tool that the model may call: of this service, of the tool server or of an external server. */
export interface AgentTool extends Tool {
  /** The JSON Schema of `input` where another process parses the arguments. */
  inputSchema?: Record<string, unknown>
  /** Set for tools of the kind `egress`. */
  egress?: EgressTool
}

/** The additional properties of a tool that sends its arguments to an external server. */
export interface EgressTool {
  server: { id: string; name: string }
  /** Whether the operator allows this call without an approval. */
  isAllowed(input: unknown): boolean
  /** Hosts on the operator's list; their names are not secret. */
  allowedHosts(): readonly string[]
  /** Throws `ServiceError` where the call cannot be made even with an approval. */
  requireCallable(input: unknown): void
}

/** Returns the tools for one question, besides those that every answer has. */
export type Toolmaker = (question: AgentQuestion, call: Call) => Promise<readonly AgentTool[]>

/** The sources of tools. */
interface Sources {
  env: Environment
  /** The first tool of a name wins. */
  from: readonly Toolmaker[]
  log: Logger
}

/** Queries all sources concurrently. The tools of a failed source are left out, since the others may suffice. */
export const openToolmaker =
  ({ env, from, log }: Sources): Toolmaker =>
  async (question, call) => {
    const made = await Promise.allSettled(from.map((make) => make(question, call)))
    call.signal.throwIfAborted()
    for (const each of made) {
      if (each.status === 'rejected') log.warn({ err: each.reason }, 'loading tools failed')
    }
    const tools = made.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    return [...tools, ...(mayRequestChanges(call, env) ? controlTools : [])]
  }

/** How long the list is cached; another release of the tool server may have another one. */
const freshMs = 10_000

/** Returns the tools of the tool server. The list is the same for all users; calls run as the caller of the agent. */
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

/** Wraps a tool of the tool server, which checks features and arguments itself. */
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
