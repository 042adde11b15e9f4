import type { CallToolResult, McpServer, Server, StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import { getToolAnnotations, type Tool } from '#shared/tools/tool.ts'
import type { CallTool } from '../call-tool.ts'

/** Returns the registration of tools for one request. Their descriptions are built once. */
export const openToolRegistration = (
  tools: readonly Tool[],
  callTool: CallTool,
): ((server: McpServer, call: CallContext) => void) => {
  const entries = tools.map((tool) => ({ tool, config: configOf(tool) }))
  return (server, call) => {
    for (const { tool, config } of entries) {
      server.registerTool(tool.name, config, (input) => resultOf(tool, callTool, input, call))
    }
  }
}

/** Sets the handler of a server for calls of one tool, and returns the server. */
export const setToolCallHandler = (server: Server, tool: Tool, callTool: CallTool, call: CallContext): Server => {
  server.setRequestHandler('tools/call', ({ params }) => resultOf(tool, callTool, params.arguments ?? {}, call))
  return server
}

/** Calls a tool. Each request has its own server, so only its caller can cancel it. */
const resultOf = async (tool: Tool, callTool: CallTool, input: unknown, call: CallContext): Promise<CallToolResult> => {
  const { isError, text, structured } = await callTool(tool, input, call)
  const sentence = { type: 'text' as const, text }
  if (structured === null) return { isError, content: [sentence] }
  // Clients of early protocol revisions support only text.
  const json = { type: 'text' as const, text: JSON.stringify(structured) }
  return { content: [sentence, json], structuredContent: structured }
}

const configOf = ({ title, description, kind, input, output }: Tool) => ({
  title,
  description,
  inputSchema: schemaWith(input, 'input'),
  ...(output && { outputSchema: schemaWith(output, 'output') }),
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
 * Returns a short JSON Schema without `$schema`, because the protocol defines the dialect. Output schemas omit
 * `required` and `additionalProperties`, which models do not need. `acceptance/tools.test.ts` validates all results
 * against the complete schema.
 */
export const toShortJsonSchema = (schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (io === 'input') return
      delete jsonSchema.additionalProperties
      delete jsonSchema.required
      mergeNullUnion(jsonSchema)
    },
  })
  return json
}

/** Replaces the union of an object and null by one schema with both types. */
const mergeNullUnion = (schema: z.core.JSONSchema.BaseSchema): void => {
  const [input, absent, ...others] = schema.anyOf ?? []
  if (input?.type !== 'object' || absent?.type !== 'null' || others.length > 0) return
  delete schema.anyOf
  Object.assign(schema, input, { type: ['object', 'null'] })
}
