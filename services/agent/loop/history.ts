import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { z } from 'zod'
import { type AgentMessage, maxEarlierResultBytes } from '#proto/agent.ts'
import { ServiceError } from '#proto/errors.ts'
import { truncateToSize } from '#shared/text/truncate-to-size.ts'
import { wrapInDataTags } from './data-tags.ts'
import { removeThinking } from './thinking.ts'
import { createToolCallId, sanitizeToolName, toFunctionCall } from './chunks.ts'

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const ToolPart = z.object({
  type: z.string().startsWith('tool-'),
  state: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  /** Whether the gateway has truncated the output. */
  truncated: z.boolean().optional().catch(undefined),
})
const EvidencePart = z.object({ type: z.literal('data-evidence'), data: z.object({ id: z.string().regex(/^e\d+$/) }) })

/**
 * Returns the conversation as model messages. Throws `invalid` when it does not end with a user message or a tool
 * result.
 */
export const toModelMessages = (messages: readonly AgentMessage[]): ChatCompletionMessageParam[] => {
  const history = messages.flatMap((message, place) =>
    message.role === 'assistant' ? toAssistantMessages(message, String(place)) : toUserMessages(message),
  )
  const last = history.at(-1)
  if (last?.role === 'user' || last?.role === 'tool') return history.flatMap(endStoppedAnswer)
  throw new ServiceError('invalid', 'messages must end with a user message that contains text, or with a tool result', {
    details: { parameter: 'messages' },
  })
}

/** Returns at most `max` of the latest messages, beginning with a question if one is among them. */
export const selectLatestMessages = (messages: readonly AgentMessage[], max: number): AgentMessage[] => {
  if (messages.length <= max) return [...messages]
  const latest = messages.slice(-max)
  const question = latest.findIndex(({ role }) => role !== 'assistant')
  return latest.slice(Math.max(0, question))
}

/** Returns the tool calls and the texts of earlier answers, because the texts may repeat tool results. */
export const extractEarlierAnswers = (messages: readonly AgentMessage[]): unknown[] =>
  messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => {
      const tools = parts.flatMap((part) => ToolPart.safeParse(part).data ?? [])
      const read = tools.map(({ input, output, errorText }) => ({ input, output, errorText }))
      const text = joinAnswerText(parts)
      return text === '' ? read : [...read, text]
    })

/** Returns the text of all user messages. */
export const joinQuestionText = (messages: readonly AgentMessage[]): string =>
  messages.flatMap(({ role, parts }) => (role === 'assistant' ? [] : [joinText(parts)])).join('\n')

/** Returns the highest evidence number below 9,000 in earlier answers; 0 if they have no evidence. */
export const findLastEvidenceNumber = (messages: readonly AgentMessage[]): number =>
  Math.max(
    0,
    ...messages
      .flatMap(({ parts }) => parts)
      .flatMap((part) => {
        const parsed = EvidencePart.safeParse(part)
        return parsed.success ? [Number(parsed.data.data.id.slice(1))] : []
      })
      .filter((number) => number < 9_000),
  )

/** Converts a message of any role but `assistant` to a user message, so that clients cannot add system messages. */
const toUserMessages = ({ parts }: AgentMessage): ChatCompletionMessageParam[] => {
  const content = joinText(parts)
  return content === '' ? [] : [{ role: 'user', content }]
}

/** Adds an assistant message after a stopped answer, because some models reject a user message after a tool result. */
const endStoppedAnswer = (
  message: ChatCompletionMessageParam,
  index: number,
  history: readonly ChatCompletionMessageParam[],
): ChatCompletionMessageParam[] =>
  message.role === 'user' && history[index - 1]?.role === 'tool'
    ? [{ role: 'assistant', content: 'My answer ended here.' }, message]
    : [message]

/** Returns the messages of an answer, step by step, with each tool call and its result. */
const toAssistantMessages = ({ parts }: AgentMessage, place: string): ChatCompletionMessageParam[] =>
  splitIntoSteps(parts).flatMap((step, index) => toStepMessages(step, `${place}-${index}`))

type Part = AgentMessage['parts'][number]

/** Splits an answer into its steps. Drops a text that the next step corrects. */
const splitIntoSteps = (parts: readonly Part[]): Part[][] => {
  const steps: Part[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps.map((step, index) =>
    steps[index + 1]?.some(({ type }) => type === 'data-correction')
      ? step.filter(({ type }) => type !== 'text')
      : step,
  )
}

/**
 * Returns the messages of one step. Replaces the ids of tool calls, because ids from clients may repeat or have a
 * format that a model rejects.
 */
const toStepMessages = (parts: readonly Part[], place: string): ChatCompletionMessageParam[] => {
  const content = joinAnswerText(parts)
  const tools = parts.flatMap((part, index) => {
    const parsed = ToolPart.safeParse(part)
    return parsed.success ? [{ ...parsed.data, id: createToolCallId(`${place}-${index}`) }] : []
  })
  if (tools.length === 0) return content === '' ? [] : [{ role: 'assistant', content }]
  const calls = tools.map(({ type, id, input }) =>
    toFunctionCall({
      id,
      name: sanitizeToolName(type.slice('tool-'.length)),
      argumentsText: JSON.stringify(input ?? {}),
    }),
  )
  return [
    { role: 'assistant', content: content === '' ? null : content, tool_calls: calls },
    ...tools.map((tool) => ({ role: 'tool' as const, tool_call_id: tool.id, content: formatToolResult(tool) })),
  ]
}

const formatToolResult = ({ state, output, errorText, truncated = false }: z.output<typeof ToolPart>): string => {
  if (state === 'output-available') {
    const { value, cut } = truncateToSize(output, maxEarlierResultBytes)
    return wrapInDataTags({ value, cut: cut || truncated })
  }
  return wrapInDataTags({ value: { error: errorText ?? 'no result' }, cut: false })
}

/** Joins the text parts of an answer without the reasoning between `<think>` tags, which some clients keep. */
const joinAnswerText = (parts: readonly Part[]): string => joinText(parts, removeThinking)

/** Joins the text parts of a message. Replaces lone surrogates, because gateways reject them. */
const joinText = (parts: readonly Part[], convert = (text: string) => text): string =>
  parts
    .flatMap((part) => {
      const parsed = TextPart.safeParse(part)
      return parsed.success ? [convert(parsed.data.text)] : []
    })
    .join('\n')
    .trim()
    .toWellFormed()
