import { hash } from 'node:crypto'
import type { ChatCompletionMessageFunctionToolCall } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { parseJson } from '#shared/text/strings.ts'
import { AnswerFailure } from './failure.ts'

const Text = z.string().nullish()

/** Some reasoning models send their content in parts. */
const Content = z.union([
  z.string(),
  z.array(z.looseObject({ text: Text })).transform((parts) => parts.map(({ text }) => text ?? '').join('')),
])

/** Arguments are streamed as text; some gateways send the whole object. */
const Arguments = z.union([z.string(), z.record(z.string(), z.unknown()).transform((object) => JSON.stringify(object))])

const ToolCallPiece = z.object({
  index: z.number().nullish(),
  id: Text,
  function: z.object({ name: Text, arguments: Arguments.nullish() }).nullish(),
})
export type ToolCallPiece = z.infer<typeof ToolCallPiece>

const Delta = z.object({
  content: Content.nullish(),
  /** Gateways use two names for the reasoning text. */
  reasoning_content: Text.catch(null),
  reasoning: Text.catch(null),
  tool_calls: z.array(ToolCallPiece).nullish(),
})
export type Delta = z.infer<typeof Delta>

const Count = z.number().nullish().catch(null)

/** The token usage of a step. Values that are not numbers count as missing. */
const Usage = z
  .object({
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: z.object({ cached_tokens: Count }).nullish().catch(null),
    completion_tokens_details: z.object({ reasoning_tokens: Count }).nullish().catch(null),
  })
  .nullish()
  .catch(null)
export type Usage = NonNullable<z.infer<typeof Usage>>

const Chunk = z.object({
  model: Text.catch(null),
  usage: Usage,
  choices: z.array(z.object({ delta: Delta.nullish(), finish_reason: Text })).nullish(),
})

/** Parses the streamed chunks, since the library passes on any JSON. Throws `provider-garbled` for invalid chunks. */
export async function* parseChunks(stream: AsyncIterable<unknown>): AsyncGenerator<z.output<typeof Chunk>, void, void> {
  try {
    for await (const chunk of stream) yield Chunk.parse(chunk)
  } catch (cause) {
    const isUnreadable = cause instanceof z.ZodError || cause instanceof TypeError || cause instanceof SyntaxError
    throw isUnreadable ? new AnswerFailure('provider-garbled', { cause }) : cause
  }
}

/** A tool call as the model wrote it. */
export interface RawCall {
  /** Generated here, since gateways reuse their ids. */
  id: string
  name: string
  argumentsText: string
}

/** The limit of the gateways. */
const maxNameLength = 64
/** Mistral models accept only ids of this length, of letters and digits. */
const idLength = 9

/** Returns the id of the call at a place, in the format that every gateway accepts. */
export const callIdAt = (place: string): string => hash('sha256', place, 'hex').slice(0, idLength)

/** Returns a tool name from a model in the format that every gateway accepts. */
export const callName = (rawName: string): string =>
  rawName
    .trim()
    .replaceAll(/[^\w-]/g, '_')
    .slice(0, maxNameLength) || 'unnamed'

/** Returns a call for the history. Gateways reject arguments that are not an object, so those become `{}`. */
export const functionCall = ({ id, name, argumentsText }: RawCall): ChatCompletionMessageFunctionToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: isObject(parseJson(argumentsText)) ? argumentsText : '{}' },
})

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
