import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** The tools, resources or prompts that a message needs. */
export type RequiredFeatures = { kind: 'tool'; name: string } | { kind: 'tools' | 'resources' | 'prompts' | 'all' }

const Id = z.union([z.string(), z.number()])
const Message = z.object({
  id: Id.optional().catch(undefined),
  method: z.string(),
  params: z.object({ name: z.string().optional(), _meta: z.looseObject({}).optional() }).optional(),
})

/** The properties of a message that the server reads before it passes the message to the MCP library. */
export interface MessageSummary {
  part: RequiredFeatures
  /** Whether the message states a protocol revision; false for `initialize`, whose revision may be unsupported. */
  isModern: boolean
  /** The id of a `server/discover` request, which only the modern protocol has. */
  discoveryId: z.output<typeof Id> | undefined
}

export const summarizeMessage = (message: unknown): MessageSummary => {
  const { id, method = '', params } = Message.safeParse(message).data ?? {}
  const hasRevision = params?._meta !== undefined && PROTOCOL_VERSION_META_KEY in params._meta
  return {
    part: partOf(method, params?.name),
    isModern: hasRevision && method !== 'initialize',
    discoveryId: method === 'server/discover' ? id : undefined,
  }
}

/**
 * Returns the features that a server must register for a message; `all` if the message does not determine them, as
 * for batches and discovery.
 */
const partOf = (method: string, name: string | undefined): RequiredFeatures => {
  if (method === 'tools/call' && name !== undefined) return { kind: 'tool', name }
  if (method === 'tools/list') return { kind: 'tools' }
  if (method.startsWith('resources/')) return { kind: 'resources' }
  return { kind: method.startsWith('prompts/') ? 'prompts' : 'all' }
}
