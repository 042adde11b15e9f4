import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { AgentTool } from '../tool.ts'
import type { OfferedTool } from './offered-tools.ts'
import { readResult } from './read-result.ts'
import { externalName } from './tool-name.ts'
import { callTool, type ToolServer } from './tool-server.ts'

/** Crawlers take their time. */
const longestCallMs = 30_000
const mostArgumentBytes = 32_768

/** What the operator's settings say of the calls of a server. */
export interface ServerPolicy {
  /** Why a call may not be made at all; undefined when it may. */
  refusal(tool: string, input: unknown): string | undefined
  /** Whether a call of the tool with this name may go without an approval. */
  isAllowed(name: string, input: unknown): boolean
  /** Hosts that such calls may lead to. */
  allowedHosts(): readonly string[]
}

/** A tool of an external server as the loop uses it: the model finds it by `search_tools`, and its results are untrusted. */
export const agentTool = (
  server: ToolServer,
  { tool, title, description }: OfferedTool,
  policy: ServerPolicy,
): AgentTool => {
  const name = externalName(server.id, tool.name)
  const requireCallable = (input: unknown): void => {
    const text = JSON.stringify(Arguments.parse(input))
    if (Buffer.byteLength(text) > mostArgumentBytes)
      throw new ServiceError('too-large', `the arguments of ${tool.name} are longer than ${mostArgumentBytes} bytes`)
    const refused = policy.refusal(tool.name, input)
    if (refused !== undefined) throw new ServiceError('forbidden', refused)
  }
  return {
    name,
    title: `${title} (${server.name})`,
    description,
    // The server validates arguments against its own schema.
    input: z.looseObject({}),
    inputSchema: tool.inputSchema,
    kind: 'egress',
    core: false,
    untrusted: true,
    egress: {
      server: { id: server.id, name: server.name },
      isAllowed: (input) => policy.isAllowed(name, input),
      allowedHosts: policy.allowedHosts,
      requireCallable,
    },
    run: async (input, { call, clock }) => {
      requireCallable(input)
      const given = Arguments.parse(input)
      const timeoutMs = Math.min(longestCallMs, Math.max(call.deadline - clock.elapsedMs(), 1))
      return readResult(server.name, await callTool(server, tool, given, { timeoutMs, signal: call.signal }))
    },
  }
}

const Arguments = z.record(z.string(), z.unknown())
