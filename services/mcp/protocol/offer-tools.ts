import type { CallToolResult, McpServer, Server, StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Call } from '#proto/call.ts'
import { annotationsOf, type Tool } from '#shared/tools/tool.ts'
import type { CallTool } from '../call-tool.ts'

/** Offers the tools to the calls of one request; what is told of them is made once. */
export const openToolOffer = (
  tools: readonly Tool[],
  callTool: CallTool,
): ((server: McpServer, call: Call) => void) => {
  const entries = tools.map((tool) => ({ tool, config: configOf(tool) }))
  return (server, call) => {
    for (const { tool, config } of entries) {
      server.registerTool(tool.name, config, (given) => resultOf(tool, callTool, given, call))
    }
  }
}

/** Has a server answer calls of one tool, and nothing else. */
export const answerCall = (server: Server, tool: Tool, callTool: CallTool, call: Call): Server => {
  server.setRequestHandler('tools/call', ({ params }) => resultOf(tool, callTool, params.arguments ?? {}, call))
  return server
}

/** Each request has a server of its own, so nothing but its caller's leaving can end it. */
const resultOf = async (tool: Tool, callTool: CallTool, given: unknown, call: Call): Promise<CallToolResult> => {
  const { isError, text, structured } = await callTool(tool, given, call)
  const sentence = { type: 'text' as const, text }
  if (structured === null) return { isError, content: [sentence] }
  // Clients of the first revisions know nothing but text.
  const json = { type: 'text' as const, text: JSON.stringify(structured) }
  return { content: [sentence, json], structuredContent: structured }
}

const configOf = ({ title, description, kind, input, output }: Tool) => ({
  title,
  description,
  inputSchema: told(input, 'input'),
  ...(output && { outputSchema: told(output, 'output') }),
  annotations: annotationsOf({ kind }),
})

/**
 * A schema that tells its JSON Schema as it was made once, in as few words as do: every word of every tool is read by every
 * model that connects.
 */
const told = <S extends z.ZodObject>(
  schema: S,
  io: 'input' | 'output',
): StandardSchemaWithJSON<z.input<S>, z.output<S>> => {
  const json = briefly(schema, io)
  const jsonSchema = { input: () => json, output: () => json }
  return { '~standard': { ...schema['~standard'], jsonSchema } }
}

/**
 * JSON Schema without its dialect, which the protocol fixes, and of answers without what only a strict reader needs: that nothing else
 * is in them, and that everything is. `acceptance/tools.test.ts` validates the answers of all tools against the whole schema.
 */
export const briefly = (schema: z.ZodObject, io: 'input' | 'output'): Record<string, unknown> => {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      if (io === 'input') return
      delete jsonSchema.additionalProperties
      delete jsonSchema.required
      mayBeNull(jsonSchema)
    },
  })
  return json
}

/** An object or null in one schema instead of three. */
const mayBeNull = (schema: z.core.JSONSchema.BaseSchema): void => {
  const [given, absent, ...others] = schema.anyOf ?? []
  if (given?.type !== 'object' || absent?.type !== 'null' || others.length > 0) return
  delete schema.anyOf
  Object.assign(schema, given, { type: ['object', 'null'] })
}
