import { z } from 'zod'
import { ActionOutcome } from '../actions.ts'
import { AgentMessage, AgentRunId, mostMessages, SeenPage } from '../agent.ts'
import { mostUserServers, UserServer } from '../external-tools.ts'
import { answer } from './answer.ts'
import { bodyHostId } from './parameters.ts'

/** Longest question of `message`; longer ones are `messages`, which the body as a whole bounds. */
const longestQuestion = 8_192

/** A message of a client that knows no parts. */
const PlainMessage = z
  .object({ id: z.string().max(128).optional(), role: z.string().max(32), content: z.string() })
  .transform(({ content, ...message }) => ({ ...message, parts: [{ type: 'text', text: content }] }))

/** Name that a client gives a chat, under which its latest answer is found again. */
export const ChatId = z.string().regex(/^[\w.:-]{1,128}$/, 'must be 1 to 128 letters, digits, _, -, . and :')

/** `POST /api/v1/agent`: a question, or all messages of a conversation that ends with one. What the AI SDK sends besides is ignored. */
export const AgentRequest = z
  .object({
    message: z.string().min(1).max(longestQuestion).optional(),
    messages: z
      .array(z.union([AgentMessage, PlainMessage], 'must be a message with role and parts'))
      .min(1)
      .max(mostMessages)
      .optional(),
    hostId: bodyHostId.default(0),
    /** `provider:model`. */
    model: z.string().min(1).max(256).nullish(),
    /** A key of the caller's own for the gateway of the model. */
    apiKey: z.string().min(1).max(512).nullish(),
    disabledTools: z.array(z.string().min(1).max(128)).max(256).default([]),
    mcpServers: z.array(UserServer).max(mostUserServers).default([]),
    /** What the person looks at. */
    pageContext: SeenPage.nullish(),
    id: ChatId.optional(),
  })
  .refine(({ message, messages }) => (message === undefined) !== (messages === undefined), {
    path: ['message'],
    error: 'or messages is required, and only one of them may be given',
  })
export type AgentRequest = z.infer<typeof AgentRequest>

/** A run by its id, or the latest of a chat. */
export const RunPath = z.object({ id: z.union([AgentRunId, ChatId], 'must be the id of a run or of a chat') })

/** `POST /api/v1/agent/{id}/stop` */
export const StopAnswer = answer(z.object({ stopped: z.boolean() }), z.object({}))

/** `POST /api/v1/agent/approvals/{id}` and `POST /api/v1/agent/egress/{id}` */
export const ApprovalRequest = z.strictObject({ approved: z.boolean() })

/** What came of a decision: null where it was a refusal. */
export const ApprovalAnswer = answer(ActionOutcome.nullable(), z.object({ approved: z.boolean() }))

/** `POST /api/v1/agent/egress/{id}` */
export const EgressAnswer = answer(z.null(), z.object({ approved: z.boolean() }))
