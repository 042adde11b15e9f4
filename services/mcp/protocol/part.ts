import { z } from 'zod'

/** The part of the offer that a message is about. */
export type Part = { kind: 'tool'; name: string } | { kind: 'tools' | 'resources' | 'prompts' | 'all' }

const Message = z.object({ method: z.string(), params: z.object({ name: z.string().optional() }).optional() })

/**
 * What a server must know to answer a message: each request has a server of its own, and most ask for one thing. Everything where
 * that is not plain, as of several messages at once or of what the server is.
 */
export const partOf = (message: unknown): Part => {
  const { method = '', params } = Message.safeParse(message).data ?? {}
  if (method === 'tools/call' && params?.name !== undefined) return { kind: 'tool', name: params.name }
  if (method === 'tools/list') return { kind: 'tools' }
  if (method.startsWith('resources/')) return { kind: 'resources' }
  return { kind: method.startsWith('prompts/') ? 'prompts' : 'all' }
}
