import { z } from 'zod'
import { ActionOutcome } from '../actions.ts'
import { AgentMessage, AgentMessagePart, AgentRunId, PageContext } from '../agent.ts'
import { maxUserToolServers, UserToolServer } from '../external-tools.ts'
import { createResponseSchema } from './response.ts'
import { bodyHostId } from './parameters.ts'

/** Maximum length of `message`. Longer questions are sent as `messages`, which only the body size limits. */
const maxQuestionLength = 8_192

/** Maximum messages per request, and maximum parts per message. The agent reads only the newest of them. */
const maxItems = { messages: 2_048, parts: 4_096 }

const PartsMessage = AgentMessage.extend({ parts: z.array(AgentMessagePart).max(maxItems.parts) })

/** A message of a client that does not support parts. */
const PlainMessage = z
  .object({ id: z.string().max(128).optional(), role: z.string().max(32), content: z.string() })
  .transform(({ content, ...message }) => ({ ...message, parts: [{ type: 'text', text: content }] }))

/** Id of a chat, chosen by the client. With it, the client can find the latest run of the chat. */
export const ChatId = z.string().regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits, _, -, . and :')

/**
 * `POST /api/v1/agent`: a question, or all messages of a conversation that ends with one. Other fields of the AI SDK
 * are ignored.
 */
export const AgentRequest = z
  .object({
    message: z.string().min(1).max(maxQuestionLength).optional(),
    messages: z
      .array(z.union([PartsMessage, PlainMessage], 'must be a message with role and parts'))
      .min(1)
      .max(maxItems.messages)
      .optional(),
    hostId: bodyHostId.default(0),
    /** The model as `provider:model`; the default model if absent. */
    model: z.string().min(1).max(256).nullish(),
    /** The caller's own key for the gateway of the model. */
    apiKey: z.string().min(1).max(512).nullish(),
    disabledTools: z.array(z.string().min(1).max(128)).max(256).default([]),
    mcpServers: z.array(UserToolServer).max(maxUserToolServers).default([]),
    /** The page that the user has open. */
    pageContext: PageContext.nullish(),
    id: ChatId.optional(),
  })
  .refine(({ message, messages }) => (message === undefined) !== (messages === undefined), {
    path: ['message'],
    error: 'or messages is required, but not both',
  })
export type AgentRequest = z.infer<typeof AgentRequest>

/** Path parameters of requests about a run: the id of the run, or the id of a chat for its latest run. */
export const AgentRunPath = z.object({ id: z.union([AgentRunId, ChatId], 'must be the id of a run or of a chat') })

/** Response of `POST /api/v1/agent/{id}/stop`. */
export const StopRunResponse = createResponseSchema(z.object({ stopped: z.boolean() }), z.object({}))

/** Body of `POST /api/v1/agent/approvals/{id}` and `POST /api/v1/agent/egress/{id}`. */
export const ApprovalDecisionRequest = z.strictObject({ approved: z.boolean() })

/** Response of `POST /api/v1/agent/approvals/{id}`: the outcome of the action; null if it was denied. */
export const ApprovalResponse = createResponseSchema(ActionOutcome.nullable(), z.object({ approved: z.boolean() }))

/** Response of `POST /api/v1/agent/egress/{id}`. */
export const EgressResponse = createResponseSchema(z.null(), z.object({ approved: z.boolean() }))
