import type {
  CallToolResult,
  McpServer,
  Server,
  ServerContext,
  StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { RecordedResult } from '#shared/tools/recorded-hour.ts'
import { getToolAnnotations, type Tool } from '#shared/tools/tool.ts'
import { maxHostPosition } from '#shared/tools/tool-parameters.ts'
import type { CallTool } from '../call-tool.ts'
import { formatRecordedHour } from '../recorded-hour-text.ts'
import { reportProgress } from './progress.ts'
import type { OnToolFailure } from './server.ts'

/** The request that calls a tool. */
interface ToolRequest {
  call: CallContext
  onToolFailure: OnToolFailure
}

/** Returns the registration of tools for one request. Their descriptions are built once. */
export const openToolRegistration = (
  tools: readonly Tool[],
  callTool: CallTool,
): ((server: McpServer, request: ToolRequest) => void) => {
  const entries = tools.map((tool) => ({ tool, config: configOf(tool) }))
  return (server, request) => {
    for (const { tool, config } of entries) {
      server.registerTool(tool.name, config, (input, context) =>
        resultOf(tool, callTool, input, { ...request, context }),
      )
    }
  }
}

/** Sets the handler of a server for calls of one tool, and returns the server. */
export const setToolCallHandler = (server: Server, tool: Tool, callTool: CallTool, request: ToolRequest): Server => {
  server.setRequestHandler('tools/call', ({ params }, context) =>
    resultOf(tool, callTool, params.arguments ?? {}, { ...request, context }),
  )
  return server
}

/** Calls a tool. Each request has its own server, so only its caller can cancel it. */
const resultOf = async (
  tool: Tool,
  callTool: CallTool,
  input: unknown,
  { call, onToolFailure, context }: ToolRequest & { context: ServerContext },
): Promise<CallToolResult> => {
  using progress = reportProgress(context, tool.name)
  const { isError, text, structured } = await callTool(tool, input, call, { onRun: progress.onRun })
  if (isError) onToolFailure(new ToolCallError())
  const sentence = { type: 'text' as const, text }
  if (structured === null) return { isError, content: [sentence] }
  const recorded = RecordedResult.safeParse(structured).data
  const formatted = recorded ? formatRecordedHour(recorded.history) : tool.format?.(structured)
  if (formatted !== undefined) {
    const content = [{ type: 'text' as const, text: `${text}\n${formatted}`.trimEnd() }]
    // A tool with a published schema must return structured content.
    if (!tool.format) return { content, structuredContent: structured }
    return { content, ...(Structured.safeParse(input).success && { structuredContent: structured }) }
  }
  // Clients of early protocol revisions support only text.
  const json = { type: 'text' as const, text: JSON.stringify(structured) }
  return { content: [sentence, json], structuredContent: structured }
}

/** The argument with which a client requests the structured content of a tool that returns text. */
const Structured = z.looseObject({ structured: z.literal(true) })

/** The error type of a failed tool call in spans, according to the OpenTelemetry conventions for MCP. */
class ToolCallError extends Error {
  override readonly name = 'tool_error'
}

const configOf = ({ title, description, kind, input, output, format }: Tool) => ({
  title,
  description,
  inputSchema: schemaWith(input, 'input'),
  ...(output && !format && { outputSchema: schemaWith(output, 'output') }),
  annotations: getToolAnnotations({ kind }),
})

/** Returns a schema with a prebuilt JSON Schema. It is short, because every model reads the schemas of all tools. */
const schemaWith = <S extends z.ZodObject>(
  schema: S,
  io: 'input' | 'output',
): StandardSchemaWithJSON<z.input<S>, z.output<S>> => {
  const json = toShortJsonSchema(schema, io)
  const jsonSchema = { input: () => json, output: () => json }
  return { '~standard': { ...schema['~standard'], jsonSchema } }
}

/**
 * Returns a short JSON Schema without `$schema`, because the protocol defines the dialect. Lengths of texts and bounds of
 * `hostId` are omitted, because their errors explain them. Output schemas omit `required` and `additionalProperties`, which
 * models do not need. `acceptance/tools.test.ts` validates all results against the complete schema.
 */
export const toShortJsonSchema = (schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      mergeNullUnion(jsonSchema)
      delete jsonSchema.minLength
      delete jsonSchema.maxLength
      if (jsonSchema.maximum === maxHostPosition) {
        delete jsonSchema.minimum
        delete jsonSchema.maximum
      }
      if (io === 'input') return
      delete jsonSchema.additionalProperties
      delete jsonSchema.required
    },
  })
  return json
}

/** Replaces the union of a typed schema and null by one schema with both types. */
const mergeNullUnion = (schema: z.core.JSONSchema.BaseSchema): void => {
  const [input, absent, ...others] = schema.anyOf ?? []
  if (typeof input?.type !== 'string' || absent?.type !== 'null' || others.length > 0) return
  delete schema.anyOf
  Object.assign(schema, input, { type: [input.type, 'null'] })
}
