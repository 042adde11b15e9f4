import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { W3cTraceContext } from '#proto/call.ts'
import { toTraceContext } from '#shared/telemetry/tracing.ts'

/** The tools, resources or prompts that a message needs. */
export type RequiredFeatures = { kind: 'tool'; name: string } | { kind: 'tools' | 'resources' | 'prompts' | 'all' }

const Id = z.union([z.string(), z.number()])
/** The id of a JSON-RPC request. */
export type MessageId = z.output<typeof Id>

const text = z.string().optional().catch(undefined)
const Meta = z.looseObject({
  progressToken: Id.optional().catch(undefined),
  traceparent: text,
  tracestate: text,
  [PROTOCOL_VERSION_META_KEY]: text,
})
const Message = z.object({
  id: Id.optional().catch(undefined),
  method: z.string(),
  params: z
    .object({
      name: z.string().optional(),
      uri: text,
      requestId: Id.optional().catch(undefined),
      _meta: Meta.optional(),
    })
    .optional(),
})

/** The properties of a message that the server reads before it passes the message to the MCP library. */
export interface MessageSummary {
  part: RequiredFeatures
  /** Whether the message states a protocol revision; false for `initialize`, whose revision may be unsupported. */
  isModern: boolean
  method: string | undefined
  /** The id of a request; undefined for notifications and batches. */
  id: MessageId | undefined
  /** The protocol revision in the message. */
  revision: string | undefined
  /** The URI of a resource. */
  uri: string | undefined
  /** Whether the client requests progress notifications. */
  wantsProgress: boolean
  /** The id of the request that a `notifications/cancelled` cancels. */
  cancels: MessageId | undefined
  /** The trace context of the client; undefined without a valid one. */
  trace: W3cTraceContext | undefined
}

export const summarizeMessage = (message: unknown): MessageSummary => {
  const { id, method, params } = Message.safeParse(message).data ?? {}
  const { _meta: meta } = params ?? {}
  const revision = meta?.[PROTOCOL_VERSION_META_KEY]
  return {
    part: partOf(method ?? '', params?.name),
    isModern: meta !== undefined && PROTOCOL_VERSION_META_KEY in meta && method !== 'initialize',
    method,
    id,
    revision: typeof revision === 'string' ? revision : undefined,
    uri: params?.uri,
    wantsProgress: meta?.progressToken !== undefined,
    cancels: method === 'notifications/cancelled' ? params?.requestId : undefined,
    trace: meta && toTraceContext(meta),
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

const WithNullArguments = z.looseObject({ params: z.looseObject({ arguments: z.null() }) })

/** Returns a message without `arguments: null`, which many clients send for tools and prompts without arguments. */
export const omitNullArguments = (message: unknown): unknown => {
  if (Array.isArray(message)) return message.map(omitNullArguments)
  const found = WithNullArguments.safeParse(message)
  if (!found.success) return message
  const { arguments: _none, ...params } = found.data.params
  return { ...found.data, params }
}
