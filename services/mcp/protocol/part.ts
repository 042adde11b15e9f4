import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** The part of the offer that a message is about. */
export type Part = { kind: 'tool'; name: string } | { kind: 'tools' | 'resources' | 'prompts' | 'all' }

const Id = z.union([z.string(), z.number()])
const Message = z.object({
  id: Id.optional().catch(undefined),
  method: z.string(),
  params: z.object({ name: z.string().optional(), _meta: z.looseObject({}).optional() }).optional(),
})

/** What is plain from a message before the protocol reads it. */
export interface Glance {
  part: Part
  /** It says of which revision it is, as messages of the modern era do; a first message of either era may say it wrongly. */
  isModern: boolean
  /** The id under which it asks what the server is, which only messages of the modern era do. */
  discoveryId: z.output<typeof Id> | undefined
}

export const glanceAt = (message: unknown): Glance => {
  const { id, method = '', params } = Message.safeParse(message).data ?? {}
  const saysRevision = params?._meta !== undefined && PROTOCOL_VERSION_META_KEY in params._meta
  return {
    part: partOf(method, params?.name),
    isModern: saysRevision && method !== 'initialize',
    discoveryId: method === 'server/discover' ? id : undefined,
  }
}

/**
 * What a server must know to answer a message: each request has a server of its own, and most ask for one thing. Everything where
 * that is not plain, as of several messages at once or of what the server is.
 */
const partOf = (method: string, name: string | undefined): Part => {
  if (method === 'tools/call' && name !== undefined) return { kind: 'tool', name }
  if (method === 'tools/list') return { kind: 'tools' }
  if (method.startsWith('resources/')) return { kind: 'resources' }
  return { kind: method.startsWith('prompts/') ? 'prompts' : 'all' }
}
