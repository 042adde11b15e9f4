import { hash } from 'node:crypto'
import type { ChatCompletionMessageFunctionToolCall } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { parseJson } from '#shared/text/parse-json.ts'
import { AnswerFailure } from './failure.ts'

const Text = z.string().nullish()

/** Models that think in parts speak in parts too. */
const Words = z.union([
  z.string(),
  z.array(z.looseObject({ text: Text })).transform((parts) => parts.map(({ text }) => text ?? '').join('')),
])

/** Arguments are text in pieces; some gateways send the whole object. */
const Arguments = z.union([z.string(), z.record(z.string(), z.unknown()).transform((given) => JSON.stringify(given))])

const ToolCallPiece = z.object({
  index: z.number().nullish(),
  id: Text,
  function: z.object({ name: Text, arguments: Arguments.nullish() }).nullish(),
})
export type ToolCallPiece = z.infer<typeof ToolCallPiece>

const Delta = z.object({
  content: Words.nullish(),
  /** What a model thinks goes by two names. */
  reasoning_content: Text.catch(null),
  reasoning: Text.catch(null),
  tool_calls: z.array(ToolCallPiece).nullish(),
})
export type Delta = z.infer<typeof Delta>

const Count = z.number().nullish().catch(null)

/** What a gateway counts of a step; what it does not tell in numbers it does not tell. */
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

/** What a gateway streams, as far as it is needed; the library hands on whatever is JSON. Throws `provider-garbled` for what is none of it. */
export async function* heard(stream: AsyncIterable<unknown>): AsyncGenerator<z.output<typeof Chunk>, void, void> {
  try {
    for await (const chunk of stream) yield Chunk.parse(chunk)
  } catch (cause) {
    const isUnreadable = cause instanceof z.ZodError || cause instanceof TypeError || cause instanceof SyntaxError
    throw isUnreadable ? new AnswerFailure('provider-garbled', { cause }) : cause
  }
}

/** A call of a tool as the model wrote it. */
export interface RawCall {
  /** Ours, since gateways use theirs again. */
  id: string
  name: string
  argumentsText: string
}

/** Gateways take no longer name. */
const longestName = 64
/** Models of Mistral take ids of this length only, of letters and digits alone. */
const idLength = 9

/** The id of the call at a place, as every gateway takes it. */
export const callIdAt = (place: string): string => hash('sha256', place, 'hex').slice(0, idLength)

/** A name that a model made up, as every gateway takes it. */
export const callName = (told: string): string =>
  told
    .trim()
    .replaceAll(/[^\w-]/g, '_')
    .slice(0, longestName) || 'unnamed'

/** A call as the model reads it again. Gateways refuse a conversation with arguments that are no object, so that one bad call would end it. */
export const functionCall = ({ id, name, argumentsText }: RawCall): ChatCompletionMessageFunctionToolCall => ({
  id,
  type: 'function',
  function: { name, arguments: isObject(parseJson(argumentsText)) ? argumentsText : '{}' },
})

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)
