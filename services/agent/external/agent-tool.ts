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

/** Why a call may not be made; undefined when it may. */
type Refusal = (tool: string, given: unknown) => string | undefined

/** A tool of somebody else's server as the loop uses it: never told to a model at once, and never believed. */
export const agentTool = (
  server: ToolServer,
  { tool, title, description }: OfferedTool,
  refusal: Refusal = () => undefined,
): AgentTool => ({
  name: externalName(server.id, tool.name),
  title: `${title} (${server.name})`,
  description,
  // What its own server makes of arguments is told by its schema, and refused by itself.
  input: z.looseObject({}),
  inputSchema: tool.inputSchema,
  kind: 'read',
  core: false,
  untrusted: true,
  run: async (input, { call, clock }) => {
    const given = Arguments.parse(input)
    if (Buffer.byteLength(JSON.stringify(given)) > mostArgumentBytes)
      throw new ServiceError('too-large', `the arguments of ${tool.name} are longer than ${mostArgumentBytes} bytes`)
    const refused = refusal(tool.name, given)
    if (refused !== undefined) throw new ServiceError('forbidden', refused)
    const timeoutMs = Math.min(longestCallMs, Math.max(call.deadline - clock.now(), 1))
    return readResult(server.name, await callTool(server, tool, given, { timeoutMs, signal: call.signal }))
  },
})

const Arguments = z.record(z.string(), z.unknown())
