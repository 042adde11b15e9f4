import { hash } from 'node:crypto'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import type { AgentTool } from '../tool.ts'
import type { OfferedTool } from './offered-tools.ts'
import { readResult } from './read-result.ts'
import { callTool, type ToolServer } from './tool-server.ts'

/** Gateways take no longer name of a tool. */
const longest = 64
const hashLength = 8

/**
 * Name of a tool of somebody else's server: `mcp_<server>__<tool>`, so that it can stand for no tool of ours. What gateways do not
 * take in a name is replaced; then, and where it is too long, it ends in a part of a hash, so that two never become one.
 */
export const externalName = (server: string, tool: string): string => {
  const wished = `mcp_${server}__${tool}`
  const plain = wished.replaceAll(/[^\w-]/g, '_')
  // Where the id of the server ends is to be seen.
  const isClear = !/__|_$/.test(server)
  if (plain === wished && plain.length <= longest && isClear) return plain
  const digest = hash('sha256', wished).slice(0, hashLength)
  return `${plain.slice(0, longest - hashLength - 1)}_${digest}`
}

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
    feature: null,
    kind: 'egress',
    core: false,
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
