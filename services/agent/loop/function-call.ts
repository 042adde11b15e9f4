import { hash } from 'node:crypto'
import type { ChatCompletionMessageFunctionToolCall } from 'openai/resources/chat/completions'
import { parseJson } from '#shared/text/parse-json.ts'
import type { RawCall } from './heard.ts'

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
