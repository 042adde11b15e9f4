import type { Logger } from 'pino'
import { z } from 'zod'
import type { AgentQuestion } from '#proto/agent.ts'
import type { Call } from '#proto/call.ts'
import type { Client } from '#proto/contract.ts'
import type { mcp, McpTool } from '#proto/mcp.ts'
import type { Environment } from '#shared/config/environment.ts'
import type { Clock } from '#shared/time/clock.ts'
import type { Tool } from '#shared/tools/tool.ts'
import { controlTools, mayWish } from './approvals/control-tools.ts'

/** A tool that the model of an answer may call: of this service, of the tool server, or of an external server. */
export interface AgentTool extends Tool {
  /** The JSON Schema of `input` where another process parses the arguments. */
  inputSchema?: Record<string, unknown>
  /** Of tools of the kind `egress`. */
  egress?: EgressTool
}

/** What a tool that sends its arguments to an external server adds. */
export interface EgressTool {
  server: { id: string; name: string }
  /** Whether the operator lets this call go without an approval. */
  isAllowed(input: unknown): boolean
  /** Hosts on the operator's list, whose names are no secrets. */
  allowedHosts(): readonly string[]
  /** Throws `ServiceError` where the call cannot be made even with an approval. */
  requireCallable(input: unknown): void
}

/** The tools that one question may have, besides those that every answer has of its own. */
export type Toolmaker = (question: AgentQuestion, call: Call) => Promise<readonly AgentTool[]>

/** Where tools come from. */
interface Sources {
  env: Environment
  /** Of tools with one name the first counts. */
  from: readonly Toolmaker[]
  log: Logger
}

/** Asks every source at once. One that fails leaves its tools out, since the others may do. */
export const openToolmaker =
  ({ env, from, log }: Sources): Toolmaker =>
  async (question, call) => {
    const made = await Promise.allSettled(from.map((make) => make(question, call)))
    call.signal.throwIfAborted()
    for (const each of made) {
      if (each.status === 'rejected') log.warn({ err: each.reason }, 'tools left out of an answer')
    }
    const tools = made.flatMap((each) => (each.status === 'fulfilled' ? each.value : []))
    return [...tools, ...(mayWish(call, env) ? controlTools : [])]
  }

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
