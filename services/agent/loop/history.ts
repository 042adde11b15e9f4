import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { z } from 'zod'
import type { AgentMessage } from '#proto/agent.ts'
import { ServiceError } from '#proto/errors.ts'
import { shrinkTo, asData } from './shrink.ts'
import { callIdAt, callName, functionCall } from './heard.ts'

/** Bytes that stay of a result of an earlier answer. */
const keptResultBytes = 2_048

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const ToolPart = z.object({
  type: z.string().startsWith('tool-'),
  state: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
})
const EvidencePart = z.object({ type: z.literal('data-evidence'), data: z.object({ id: z.string().regex(/^e\d+$/) }) })

/** What was said before, as a model reads it. Throws `invalid` when the last message has nothing to answer. */
export const historyOf = (messages: readonly AgentMessage[]): ChatCompletionMessageParam[] => {
  const history = messages.flatMap((message, place) =>
    message.role === 'assistant' ? assistantTurns(message, String(place)) : personTurn(message),
  )
  const last = history.at(-1)
  if (last?.role === 'user' || last?.role === 'tool') return history.flatMap(endedBeforePerson)
  throw new ServiceError('invalid', 'messages must end with a question in words, or with an answer to one', {
    details: { parameter: 'messages' },
  })
}

/** All that earlier answers hold: what tools read, and what the model wrote, which may repeat it. */
export const earlierAnswers = (messages: readonly AgentMessage[]): unknown[] =>
  messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => {
      const tools = parts.flatMap((part) => ToolPart.safeParse(part).data ?? [])
      const read = tools.map(({ input, output, errorText }) => ({ input, output, errorText }))
      const text = textOf(parts)
      return text === '' ? read : [...read, text]
    })

/** The greatest number of evidence that earlier answers have used. */
export const lastEvidence = (messages: readonly AgentMessage[]): number =>
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

/** The person's own words, whatever role the message claims: nobody but us speaks as the system. */
const personTurn = ({ parts }: AgentMessage): ChatCompletionMessageParam[] => {
  const content = textOf(parts)
  return content === '' ? [] : [{ role: 'user', content }]
}

/** Some models take no person's words right after a result: an answer that was stopped has its end told. */
const endedBeforePerson = (
  message: ChatCompletionMessageParam,
  index: number,
  history: readonly ChatCompletionMessageParam[],
): ChatCompletionMessageParam[] =>
  message.role === 'user' && history[index - 1]?.role === 'tool'
    ? [{ role: 'assistant', content: 'My answer ended here.' }, message]
    : [message]

/** One turn for each step of an answer, each call of a tool with its result. */
const assistantTurns = ({ parts }: AgentMessage, place: string): ChatCompletionMessageParam[] =>
  stepsOf(parts).flatMap((step, index) => turnOf(step, `${place}-${index}`))

type Part = AgentMessage['parts'][number]

const stepsOf = (parts: readonly Part[]): Part[][] => {
  const steps: Part[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps
}

/** Calls get ids anew, as clients may bring two of one id, and ids that not every model takes. */
const turnOf = (parts: readonly Part[], place: string): ChatCompletionMessageParam[] => {
  const content = textOf(parts)
  const tools = parts.flatMap((part, index) => {
    const parsed = ToolPart.safeParse(part)
    return parsed.success ? [{ ...parsed.data, id: callIdAt(`${place}-${index}`) }] : []
  })
  if (tools.length === 0) return content === '' ? [] : [{ role: 'assistant', content }]
  const calls = tools.map(({ type, id, input }) =>
    functionCall({ id, name: callName(type.slice('tool-'.length)), argumentsText: JSON.stringify(input ?? {}) }),
  )
  return [
    { role: 'assistant', content: content === '' ? null : content, tool_calls: calls },
    ...tools.map((tool) => ({ role: 'tool' as const, tool_call_id: tool.id, content: resultOf(tool) })),
  ]
}

const resultOf = ({ state, output, errorText }: z.output<typeof ToolPart>): string => {
  if (state === 'output-available') return asData(shrinkTo(output, keptResultBytes))
  return asData({ value: { error: errorText ?? 'there is no answer' }, cut: false })
}

/** Gateways refuse a whole conversation for half a character that somebody pasted. */
const textOf = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => {
      const parsed = TextPart.safeParse(part)
      return parsed.success ? [parsed.data.text] : []
    })
    .join('\n')
    .trim()
    .toWellFormed()
