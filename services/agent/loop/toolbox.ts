import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { createNotFoundError } from '#shared/text/not-found.ts'
import { formatZodError, describeIssue } from '#shared/text/zod-errors.ts'
import type { AgentTool } from '../tool-sources.ts'
import type { RawToolCall } from './chunks.ts'

/** The tools of one answer. Some are offered to the model from the start; it can find the others by a search. */
export interface Toolbox {
  /** Returns the definitions of the tools that are currently offered. */
  offered(): ChatCompletionTool[]
  /** Returns the tool with this name and offers it from now on. Throws `not-found` with similar names. */
  take(name: string): AgentTool
  /** Offers further tools; unknown names are ignored. */
  offer(names: readonly string[]): void
  readonly all: readonly AgentTool[]
}

/** Opens the toolbox of an answer. If several tools have the same name, uses the first one. */
export const openToolbox = (tools: readonly AgentTool[], disabled: readonly string[]): Toolbox => {
  const all = new Map<string, AgentTool>()
  for (const tool of tools) if (!disabled.includes(tool.name) && !all.has(tool.name)) all.set(tool.name, tool)
  const offered = new Map(
    [...all].filter(([, { core }]) => core).map(([name, tool]) => [name, toFunctionDefinition(tool)]),
  )
  const offer = (tool: AgentTool): void => {
    if (!offered.has(tool.name)) offered.set(tool.name, toFunctionDefinition(tool))
  }
  return {
    all: [...all.values()],
    offered: () => [...offered.values()],
    offer: (names) => {
      for (const name of names) {
        const tool = all.get(name)
        if (tool) offer(tool)
      }
    },
    take: (name) => {
      const tool = all.get(name)
      if (tool === undefined) throw createNotFoundError('tool', name, all.keys(), 'tool')
      offer(tool)
      return tool
    },
  }
}

/** Returns the function definition of a tool for the model. */
const toFunctionDefinition = ({ name, description, kind, input, inputSchema }: AgentTool): ChatCompletionTool => {
  const schema = inputSchema ?? toJsonSchema(input)
  return {
    type: 'function',
    function: { name, description, parameters: kind === 'egress' ? schema : describeConversationHost(schema) },
  }
}

type JsonSchema = Record<string, unknown>

/** Cache of converted schemas, because a conversion takes as long as a query. */
const jsonSchemas = new WeakMap<z.ZodObject, JsonSchema>()

/** Returns the JSON Schema of a tool's input without `$schema`. */
const toJsonSchema = (input: z.ZodObject): JsonSchema => {
  const known = jsonSchemas.get(input)
  if (known) return known
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: 'input' })
  jsonSchemas.set(input, schema)
  return schema
}

const Properties = z.record(z.string(), z.unknown()).default({})

/** Changes the documented default of `hostId` from the first host to the host of the conversation. */
const describeConversationHost = (schema: JsonSchema): JsonSchema => {
  const properties = Properties.parse(schema.properties)
  if (!('hostId' in properties)) return schema
  const { default: _first, ...hostId } = Properties.parse(properties.hostId)
  return { ...schema, properties: { ...properties, hostId: { ...hostId, description: conversationHostDescription } } }
}

const conversationHostDescription = 'Defaults to the host of the conversation'

/** A valid tool call. */
export interface ParsedToolCall {
  id: string
  tool: AgentTool
  input: Record<string, unknown>
}

/** Parses a tool call. Throws `ServiceError` for an unknown tool and for invalid arguments. */
export const parseToolCall = ({ id, name, argumentsText }: RawToolCall, toolbox: Toolbox): ParsedToolCall => {
  const tool = toolbox.take(name)
  const parsed = tool.input.safeParse(parseArguments(argumentsText), { error: describeIssue })
  if (parsed.success) return { id, tool, input: parsed.data }
  throw new ServiceError('invalid', `invalid arguments: ${formatZodError(parsed.error)}`)
}

/** Parses the arguments. Some models send an empty text for a call without arguments. */
const parseArguments = (text: string): unknown => {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    throw new ServiceError('invalid', 'invalid arguments: not JSON')
  }
}
