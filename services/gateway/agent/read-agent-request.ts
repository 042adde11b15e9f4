import { z } from 'zod'
import { type AgentMessage, maxEarlierResultBytes, maxMessagesPerRequest, maxMessageParts } from '#proto/agent.ts'
import { isNestedTooDeep } from '#proto/bounded-json.ts'
import { ServiceError } from '#proto/errors.ts'
import { AgentRequest } from '#proto/http/agent.ts'
import { type AdmissionQueue, openAdmissionQueue } from '#shared/admission/queue.ts'
import { parseSettings, type SettingValues } from '#shared/config/setting.ts'
import { shortenText } from '#shared/text/strings.ts'
import { truncateToSize } from '#shared/text/truncate-to-size.ts'
import type { Gateway } from '../gateway.ts'
import type { RawRequest } from '../http-route.ts'
import { parseRequestInput } from '../request/parse.ts'
import { parseJsonBody } from '../request/read-body.ts'
import { toPublicError } from '../response/error-response.ts'
import { agentRouteSettings } from './config.ts'

/** Maximum number of conversations that are received at the same time; limits the memory of their bodies. */
const maxConcurrentBodies = 16
/** Bodies up to this size do not wait, because they use little memory. */
const smallBodyBytes = 128 * 1024

/** Returns a queue that limits how many conversations are received at the same time. */
export const openConversationQueue = (): AdmissionQueue =>
  openAdmissionQueue({ refusal: 'too many conversations are being received', maxWaiting: 256, maxWaitMs: 5_000 })

/**
 * Reads and validates an agent request. Clients of the AI SDK send the whole conversation with all tool results, so the
 * messages are reduced to what the agent reads. Throws `too-large` above `SVC_AGENT_MAX_BODY_BYTES`.
 */
export const readAgentRequest = async (
  exchange: Pick<RawRequest, 'headers' | 'call' | 'readBody'>,
  gateway: Pick<Gateway, 'env' | 'conversationBodies'>,
): Promise<AgentRequest> => {
  const { headers, call } = exchange
  const isSmall = Number(headers['content-length'] ?? Infinity) <= smallBodyBytes && !headers['content-encoding']
  const leave = isSmall ? undefined : await gateway.conversationBodies.enter('person', maxConcurrentBodies, call.signal)
  try {
    const bytes = await readConversationBody(exchange, parseSettings(agentRouteSettings, gateway.env))
    const body = parseRequestInput(AgentRequest, parseJsonBody(bytes, headers['content-type']))
    return body.messages ? { ...body, messages: reduceConversation(body.messages) } : body
  } finally {
    leave?.()
  }
}

const readConversationBody = async (
  exchange: Pick<RawRequest, 'readBody'>,
  { SVC_AGENT_MAX_BODY_BYTES: maxBytes }: SettingValues<typeof agentRouteSettings>,
): Promise<Buffer> => {
  try {
    return await exchange.readBody(maxBytes)
  } catch (cause) {
    if (toPublicError(cause).status !== 413) throw cause
    const sentence = `conversation too large: the maximum is ${maxBytes} bytes; start a new conversation, send only its latest messages, or raise SVC_AGENT_MAX_BODY_BYTES`
    throw new ServiceError('too-large', sentence, { details: { maxBytes }, cause })
  }
}

/** Maximum size of all messages as JSON, in bytes. It leaves room for the other fields of the bus message. */
const maxConversationBytes = 512 * 1024

/**
 * Removes what the agent never reads, truncates earlier tool results, and drops the oldest questions with their answers
 * until the conversation fits. Throws `too-large` if the last question alone does not fit.
 */
export const reduceConversation = (messages: readonly AgentMessage[]): AgentMessage[] => {
  const reduced = messages.map(reduceMessage)
  let bytes = 0
  let start: number | undefined
  for (let index = reduced.length - 1; index >= 0 && reduced.length - index <= maxMessagesPerRequest; index -= 1) {
    const message = reduced[index]
    bytes += Buffer.byteLength(JSON.stringify(message))
    if (bytes > maxConversationBytes) break
    // The conversation must not start with an answer: the model cannot use one without its question.
    if (message?.role !== 'assistant' || index === 0) start = index
  }
  if (start !== undefined) return reduced.slice(start)
  throw new ServiceError('too-large', `question too large: the maximum is ${maxConversationBytes} bytes; shorten it`, {
    details: { parameter: 'messages' },
  })
}

const reduceMessage = ({ parts, ...message }: AgentMessage): AgentMessage => ({
  ...message,
  parts: parts.flatMap(reducePart).slice(-maxMessageParts),
})

type Part = AgentMessage['parts'][number]

const TextPart = z.object({ type: z.literal('text'), text: z.string() })
const ToolPart = z.object({
  type: z.string().startsWith('tool-'),
  toolCallId: z.string().optional().catch(undefined),
  state: z.string(),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional().catch(undefined),
  truncated: z.literal(true).optional().catch(undefined),
})
const EvidencePart = z.object({ type: z.literal('data-evidence'), data: z.object({ id: z.string().max(16) }) })
const StepPart = z.object({ type: z.literal('step-start') })

/** Returns a part with only the fields that the agent reads; empty for reasoning, files, charts and other data. */
const reducePart = (part: Part): Part[] => {
  const tool = ToolPart.safeParse(part).data
  if (tool) return [reduceToolPart(tool)]
  const kept = TextPart.safeParse(part).data ?? EvidencePart.safeParse(part).data ?? StepPart.safeParse(part).data
  return kept ? [kept] : []
}

/** Maximum size of the input of an earlier tool call, in bytes. */
const maxInputBytes = 8 * 1024
/** Maximum length of the error of an earlier tool call, in characters. */
const maxErrorLength = 2_000

const reduceToolPart = ({ input, output, errorText, truncated, ...part }: z.output<typeof ToolPart>): Part => {
  const result = truncate(output, maxEarlierResultBytes)
  return {
    ...part,
    ...(input !== undefined && { input: truncate(input, maxInputBytes).value }),
    ...(output !== undefined && { output: result.value }),
    ...(errorText !== undefined && { errorText: shortenText(errorText, maxErrorLength) }),
    ...((result.cut || truncated) && { truncated: true }),
  }
}

/** Truncates a value to `maxBytes`. A value that is nested so deeply that it would exhaust the stack becomes null. */
const truncate = (value: unknown, maxBytes: number) =>
  isNestedTooDeep(value) ? { value: null, cut: true } : truncateToSize(value, maxBytes)
