import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { z } from 'zod'
import type { AgentMessage } from '#proto/agent.ts'
import { ServiceError } from '#proto/errors.ts'
import { shrinkTo } from './shrink.ts'
import { asData } from './as-data.ts'

/** Bytes that stay of a result of an earlier answer. */
const keptResultBytes = 2_048

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const ToolPart = z.object({
  type: z.string().startsWith('tool-'),
  toolCallId: z.string().min(1).max(128),
  state: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
})
const EvidencePart = z.object({ type: z.literal('data-evidence'), data: z.object({ id: z.string().regex(/^e\d+$/) }) })

/** What was said before, as a model reads it. Throws `invalid` when the last message has nothing to answer. */
export const historyOf = (messages: readonly AgentMessage[]): ChatCompletionMessageParam[] => {
  const history = messages.flatMap((message) =>
    message.role === 'assistant' ? assistantTurns(message) : personTurn(message),
  )
  const last = history.at(-1)
  if (last?.role === 'user' || last?.role === 'tool') return history
  throw new ServiceError('invalid', 'messages must end with a question in words, or with an answer to one', {
    details: { parameter: 'messages' },
  })
}

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

/** One turn for each step of an answer, each call of a tool with its result. */
const assistantTurns = ({ parts }: AgentMessage): ChatCompletionMessageParam[] => stepsOf(parts).flatMap(turnOf)

type Part = AgentMessage['parts'][number]

const stepsOf = (parts: readonly Part[]): Part[][] => {
  const steps: Part[][] = [[]]
  for (const part of parts) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps
}

const turnOf = (parts: readonly Part[]): ChatCompletionMessageParam[] => {
  const content = textOf(parts)
  const tools = parts.flatMap((part) => {
    const parsed = ToolPart.safeParse(part)
    return parsed.success ? [parsed.data] : []
  })
  if (tools.length === 0) return content === '' ? [] : [{ role: 'assistant', content }]
  const calls = tools.map(({ type, toolCallId: id, input }) => ({
    id,
    type: 'function' as const,
    function: { name: type.slice('tool-'.length), arguments: JSON.stringify(input ?? {}) },
  }))
  return [
    { role: 'assistant', content: content === '' ? null : content, tool_calls: calls },
    ...tools.map((tool) => ({ role: 'tool' as const, tool_call_id: tool.toolCallId, content: resultOf(tool) })),
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
