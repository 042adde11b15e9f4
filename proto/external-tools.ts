import { z } from 'zod'
import { rpc } from './contract.ts'

/** Most tool servers that one caller may bring along. */
export const mostUserServers = 5

/** A tool server that the caller brings. */
export const UserServer = z.object({
  /** Part of the names of its tools. */
  id: z.string().regex(/^[\w-]{1,64}$/, 'must be letters, digits, _ and -, at most 64'),
  name: z
    .string()
    .max(64)
    .regex(/^[^\p{C}]+$/u, 'must have letters, and no control characters'),
  /** Asked only through the guard of outgoing requests. */
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).max(2_048),
})
export type UserServer = z.infer<typeof UserServer>

/** What a tool server offers, or why it cannot be used. */
export const ProbedServer = z.object({
  ok: z.boolean(),
  /** A sentence when it cannot be used; null when it can. */
  error: z.string().nullable(),
  tools: z.array(z.object({ name: z.string(), title: z.string(), description: z.string() })),
  /** How many of its tools are left out, since there are too many or they cannot be told to a model. */
  leftOut: z.int().min(0),
  tookMs: z.number().min(0),
})
export type ProbedServer = z.infer<typeof ProbedServer>

/** Methods of `agent` about tool servers of others. */
export const externalToolMethods = {
  probeServer: rpc({
    doc: 'Asks a tool server of the caller what it offers. One that cannot be used is an answer like any other.',
    callers: ['gateway'],
    feature: 'AGENT',
    input: UserServer,
    output: ProbedServer,
  }),
}
