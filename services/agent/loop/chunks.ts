import { hash } from 'node:crypto'
import type { ChatCompletionMessageFunctionToolCall } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { parseJson } from '#shared/text/strings.ts'
import { AnswerFailure } from './answer-failure.ts'

const Text = z.string().nullish()

/** The text of a delta. Some reasoning models send a list of parts instead of a string. */
const Content = z.union([
  z.string(),
  z.array(z.looseObject({ text: Text })).transform((parts) => parts.map(({ text }) => text ?? '').join('')),
])

/** The arguments of a tool call. Most gateways stream them as JSON text, but some send a complete object. */
const Arguments = z.union([z.string(), z.record(z.string(), z.unknown()).transform((object) => JSON.stringify(object))])

const ToolCallDelta = z.object({
  index: z.number().nullish(),
  id: Text,
  function: z.object({ name: Text, arguments: Arguments.nullish() }).nullish(),
})
export type ToolCallDelta = z.infer<typeof ToolCallDelta>

const ChunkDelta = z.object({
  content: Content.nullish(),
  /** Gateways send the reasoning text in one of two fields. */
  reasoning_content: Text.catch(null),
  reasoning: Text.catch(null),
  /** The text of a refusal, which gateways send instead of content. */
  refusal: Text.catch(null),
  tool_calls: z.array(ToolCallDelta).nullish(),
})
export type ChunkDelta = z.infer<typeof ChunkDelta>

const Count = z.number().nullish().catch(null)

/** The token usage of a step. Values that are not numbers count as missing. */
const TokenUsage = z
  .object({
    prompt_tokens: Count,
    completion_tokens: Count,
    prompt_tokens_details: z.object({ cached_tokens: Count }).nullish().catch(null),
    completion_tokens_details: z.object({ reasoning_tokens: Count }).nullish().catch(null),
    /**
     * The cost that OpenRouter charges, in US dollars. If users have their own key at the upstream provider, it is only
     * the fee of OpenRouter.
     */
    cost: Count,
    is_byok: z.boolean().nullish().catch(null),
    /** The cost that the upstream provider charges. */
    cost_details: z.object({ upstream_inference_cost: Count }).nullish().catch(null),
  })
  .nullish()
  .catch(null)
export type TokenUsage = NonNullable<z.infer<typeof TokenUsage>>

const Chunk = z.object({
  model: Text.catch(null),
  usage: TokenUsage,
  /** Gateways that do not stream send the whole response as `message`. */
  choices: z
    .array(z.object({ delta: ChunkDelta.nullish(), message: ChunkDelta.nullish(), finish_reason: Text }))
    .nullish(),
})

/** Parses the streamed chunks, which the library does not validate. Throws `provider-garbled` for invalid chunks. */
export async function* parseChunks(stream: AsyncIterable<unknown>): AsyncGenerator<z.output<typeof Chunk>, void, void> {
  try {
    for await (const chunk of stream) yield Chunk.parse(chunk)
  } catch (cause) {
    const isUnreadable = cause instanceof z.ZodError || cause instanceof TypeError || cause instanceof SyntaxError
    throw isUnreadable ? new AnswerFailure('provider-garbled', { cause }) : cause
  }
}

/** A tool call as the model wrote it. */
export interface RawToolCall {
  /** The agent generates the id, because gateways reuse theirs. */
  id: string
  name: string
  argumentsText: string
}

/** Maximum length of a tool name that all model gateways accept, in characters. */
const maxNameLength = 64
/** Mistral models accept only ids of exactly this many letters and digits. */
const idLength = 9

/** Derives the id of a tool call from its place in the conversation. Every gateway accepts the format. */
export const createToolCallId = (place: string): string => hash('sha256', place, 'hex').slice(0, idLength)

/** Replaces the characters of a model-generated tool name that gateways reject. An empty name becomes `unnamed`. */
export const sanitizeToolName = (rawName: string): string =>
  rawName
    .trim()
    .replaceAll(/[^\w-]/g, '_')
    .slice(0, maxNameLength) || 'unnamed'

/** Converts a tool call for the history. Arguments that are not a JSON object become `{}`, as gateways reject them. */
export const toFunctionCall = ({ id, name, argumentsText }: RawToolCall): ChatCompletionMessageFunctionToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: isObject(parseJson(argumentsText)) ? argumentsText : '{}' },
})

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
