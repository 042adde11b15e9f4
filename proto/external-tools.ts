import { z } from 'zod'
import { rpc } from './contract.ts'

/** Maximum tool servers per caller. */
export const maxUserToolServers = 5

/** A user-supplied tool server. */
export const UserToolServer = z.object({
  /** Prefix of its tool names. */
  id: z.string().regex(/^[\w-]{1,64}$/, 'must be 1 to 64 letters, digits, underscores or dashes'),
  name: z
    .string()
    .max(64)
    .regex(/^[^\p{C}]+$/u, 'must not be empty or contain control characters'),
  /** URL of the server. Every request to it passes the guard for outgoing requests. */
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_048),
})
export type UserToolServer = z.infer<typeof UserToolServer>

/** The tools of a tool server, or why it cannot be used. */
export const ToolServerProbeResult = z.object({
  ok: z.boolean(),
  /** Why the server cannot be used; null if it can. */
  error: z.string().nullable(),
  tools: z.array(z.object({ name: z.string(), title: z.string(), description: z.string() })),
  /** Number of omitted tools: those above the limit, and those with names or schemas that models reject. */
  leftOut: z.int().min(0),
  tookMs: z.number().min(0),
})
export type ToolServerProbeResult = z.infer<typeof ToolServerProbeResult>

/** Methods of `agent` for external tool servers. */
export const externalToolMethods = {
  probeServer: rpc({
    doc: 'Lists the tools of a tool server of the caller. An unusable server is reported in the result, not as an error.',
    callers: ['gateway'],
    feature: 'AGENT',
    input: UserToolServer,
    output: ToolServerProbeResult,
  }),
}
