import type { CallContext } from '#proto/call.ts'
import type { Span, SpanAttributes, Tracer } from '#shared/telemetry/telemetry.ts'
import type { MessageSummary } from './message-summary.ts'

/** Names in spans come from clients, so only short ones of a known form are recorded. */
const methodPattern = /^[a-z]+(?:\/[a-zA-Z_]+)*$/
const namePattern = /^[\w-]{1,64}$/
const maxMethodLength = 64

/**
 * Starts the span of a message according to the OpenTelemetry conventions for MCP. Its parent is the trace context in
 * the message, or else that of the HTTP request.
 */
export const startRequestSpan = (
  tracer: Tracer,
  { part, method = '', id, revision, uri, trace }: MessageSummary,
  session: string | undefined,
  call: CallContext,
): Span => {
  const isKnownForm = methodPattern.test(method) && method.length <= maxMethodLength
  const shown = isKnownForm ? method : 'unknown'
  const tool = part.kind === 'tool' && namePattern.test(part.name) ? part.name : undefined
  const attributes: SpanAttributes = {
    'mcp.method.name': shown,
    'network.protocol.name': 'http',
    'network.transport': 'tcp',
    ...(tool !== undefined && { 'gen_ai.tool.name': tool, 'gen_ai.operation.name': 'execute_tool' }),
    ...(uri !== undefined && { 'mcp.resource.uri': uri }),
    ...(session !== undefined && { 'mcp.session.id': session }),
    ...(revision !== undefined && { 'mcp.protocol.version': revision }),
    ...(id !== undefined && { 'jsonrpc.request.id': String(id) }),
  }
  return tracer.start(tool === undefined ? shown : `${shown} ${tool}`, 'server', trace ?? call.trace, attributes)
}
