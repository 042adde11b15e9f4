import { z } from 'zod'
import { rpc } from './contract.ts'

/** Maximum tool servers per caller. */
export const maxUserServers = 5

/** A user-supplied tool server. */
export const UserServer = z.object({
  /** Prefix of its tool names. */
  id: z.string().regex(/^[\w-]{1,64}$/, 'must be letters, digits, _ and -, at most 64'),
  name: z
    .string()
    .max(64)
    .regex(/^[^\p{C}]+$/u, 'must have letters, and no control characters'),
  /** Requested only through the guard for outgoing requests. */
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_048),
})
export type UserServer = z.infer<typeof UserServer>

/** The tools of a tool server, or why it cannot be used. */
export const ProbedServer = z.object({
  ok: z.boolean(),
  /** Why it cannot be used; null if it can. */
  error: z.string().nullable(),
  tools: z.array(z.object({ name: z.string(), title: z.string(), description: z.string() })),
  /** The number of omitted tools, over the limit or invalid for models. */
  leftOut: z.int().min(0),
  tookMs: z.number().min(0),
})
export type ProbedServer = z.infer<typeof ProbedServer>

/** Methods of `agent` for external tool servers. */
export const externalToolMethods = {
  probeServer: rpc({
    doc: 'Lists the tools of a tool server of the caller. An unusable server is reported in the result, not as an error.',
    callers: ['gateway'],
    feature: 'AGENT',
    input: UserServer,
    output: ProbedServer,
  }),
}
