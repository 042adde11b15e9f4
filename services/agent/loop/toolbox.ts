import type { ChatCompletionTool } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { noSuch } from '#shared/text/no-such.ts'
import { problemsOf, sentenceOf } from '#shared/text/sentence-of.ts'
import type { AgentTool } from '../toolmaker.ts'
import type { RawCall } from './heard.ts'

/** The tools of one answer: those the model was told of, and those it may find. */
export interface Toolbox {
  /** What the model is told of now. */
  told(): ChatCompletionTool[]
  /** The tool of this name, of which the model is told from now on; throws `not-found` with those that are near. */
  take(name: string): AgentTool
  /** Tells the model of these too, as far as there are such tools. */
  tell(names: readonly string[]): void
  readonly all: readonly AgentTool[]
}

/** Of tools with one name the first counts. */
export const openToolbox = (given: readonly AgentTool[], disabled: readonly string[]): Toolbox => {
  const all = new Map<string, AgentTool>()
  for (const tool of given) if (!disabled.includes(tool.name) && !all.has(tool.name)) all.set(tool.name, tool)
  const told = new Map([...all].filter(([, { core }]) => core).map(([name, tool]) => [name, functionOf(tool)]))
  const tell = (tool: AgentTool): void => {
    if (!told.has(tool.name)) told.set(tool.name, functionOf(tool))
  }
  return {
    all: [...all.values()],
    told: () => [...told.values()],
    tell: (names) => {
      for (const name of names) {
        const tool = all.get(name)
        if (tool) tell(tool)
      }
    },
    take: (name) => {
      const tool = all.get(name)
      if (tool === undefined) throw noSuch('tool', name, all.keys(), 'tool')
      tell(tool)
      return tool
    },
  }
}

/** A tool as models are told of it. */
const functionOf = ({ name, description, kind, input, inputSchema }: AgentTool): ChatCompletionTool => {
  const schema = inputSchema ?? schemaOf(input)
  return {
    type: 'function',
    function: { name, description, parameters: kind === 'egress' ? schema : withUsualHost(schema) },
  }
}

type JsonSchema = Record<string, unknown>

/** Every answer tells the same tools, and making a schema takes as long as asking a host. */
const made = new WeakMap<z.ZodObject, JsonSchema>()

/** Without what says nothing to a model. */
const schemaOf = (input: z.ZodObject): JsonSchema => {
  const known = made.get(input)
  if (known) return known
  const { $schema: _dialect, ...schema } = z.toJSONSchema(input, { io: 'input' })
  made.set(input, schema)
  return schema
}

const Properties = z.record(z.string(), z.unknown()).default({})

/** Elsewhere a call that names no host is about the first; here it is about the host of the conversation. */
const withUsualHost = (schema: JsonSchema): JsonSchema => {
  const properties = Properties.parse(schema.properties)
  if (!('hostId' in properties)) return schema
  const { default: _first, ...hostId } = Properties.parse(properties.hostId)
  return { ...schema, properties: { ...properties, hostId: { ...hostId, description: usualHost } } }
}

const usualHost = 'By default the host of the conversation'

/** A call that can be carried out. */
export interface ReadCall {
  id: string
  tool: AgentTool
  input: Record<string, unknown>
}

/** What a model meant by a call; throws `ServiceError` with what is wrong when it cannot be meant. */
export const readCall = ({ id, name, argumentsText }: RawCall, toolbox: Toolbox): ReadCall => {
  const tool = toolbox.take(name)
  const parsed = tool.input.safeParse(objectIn(argumentsText), { error: sentenceOf })
  if (parsed.success) return { id, tool, input: parsed.data }
  throw new ServiceError('invalid', `the arguments do not fit: ${problemsOf(parsed.error)}`)
}

/** Models write nothing at all where a tool needs no arguments. */
const objectIn = (text: string): unknown => {
  try {
    return JSON.parse(text.trim() === '' ? '{}' : text)
  } catch {
    throw new ServiceError('invalid', 'the arguments are not JSON')
  }
}
