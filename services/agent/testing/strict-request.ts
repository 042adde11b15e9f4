import { z } from 'zod'
import { parseJson } from '#shared/text/strings.ts'

/** The id of a tool call, in the only format that Mistral accepts. */
const CallId = z.string().regex(/^[a-zA-Z0-9]{9}$/)

const Call = z.strictObject({
  id: CallId,
  type: z.literal('function'),
  function: z.strictObject({ name: z.string().regex(/^[\w-]{1,64}$/), arguments: z.string() }),
})

const Text = z.string().refine((text) => text.isWellFormed(), 'contains a lone surrogate')

const Message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: Text.min(1) }),
  z.strictObject({ role: z.literal('user'), content: Text.min(1) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: Text.nullable(),
    tool_calls: z.array(Call).min(1).optional(),
  }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: CallId, content: Text }),
])

const Tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: z.string().regex(/^[\w-]{1,64}$/),
    description: z.string().min(1).max(1_024),
    parameters: z.looseObject({ type: z.literal('object') }),
  }),
})

/** A chat request that satisfies the rules of all gateways; unknown fields are rejected. */
export const ChatRequest = z
  .strictObject({
    model: z.string().min(1),
    messages: z.array(Message).min(1),
    stream: z.boolean().optional(),
    stream_options: z.strictObject({ include_usage: z.literal(true) }).optional(),
    tools: z.array(Tool).min(1).max(128).optional(),
    tool_choice: z.enum(['auto', 'none']).optional(),
    max_tokens: z.int().optional(),
    max_completion_tokens: z.int().optional(),
    temperature: z.number().optional(),
    response_format: z.looseObject({}).optional(),
  })
  .superRefine(({ messages, tools = [], tool_choice: choice }, context) => {
    const say = (message: string) => context.addIssue({ code: 'custom', message })
    const names = tools.map((tool) => tool.function.name)
    if (new Set(names).size < names.length) say('duplicate tool name')
    if (choice !== undefined && tools.length === 0) say('tool_choice without tools')
    for (const problem of [...findUnansweredCalls(messages), ...findMisplacedMessages(messages)]) say(problem)
  })
export type ChatRequest = z.infer<typeof ChatRequest>

/** Returns a problem for each tool call that is not directly followed by exactly one result. */
const findUnansweredCalls = (messages: readonly z.infer<typeof Message>[]): string[] => {
  const problems: string[] = []
  let open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id)) problems.push(`no tool call ${message.tool_call_id}`)
      continue
    }
    if (open.size > 0) problems.push(`no tool result for ${[...open].join(', ')}`)
    const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : []
    open = new Set(calls.map(({ id }) => id))
    if (open.size < calls.length) problems.push('duplicate tool call id')
    for (const call of calls) {
      if (!isObject(parseJson(call.function.arguments))) problems.push(`arguments of ${call.id} are not an object`)
    }
  }
  return open.size > 0 ? [...problems, `no tool result for ${[...open].join(', ')}`] : problems
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Returns a problem for each message at an invalid position. Qwen accepts system messages only at the beginning.
 * Mistral rejects a user message directly after a tool result.
 */
const findMisplacedMessages = (messages: readonly z.infer<typeof Message>[]): string[] =>
  messages.flatMap(({ role }, index) => {
    if (role === 'system' && index > 0) return ['system message after other messages']
    return role === 'user' && messages[index - 1]?.role === 'tool' ? ['user message right after a tool result'] : []
  })
