import { z } from 'zod'
import { actionParameters } from './actions.ts'
import { rpc, service } from './contract.ts'
import { conversationMethods } from './conversations.ts'
import { externalToolMethods, maxUserToolServers, UserToolServer } from './external-tools.ts'
import { HostKey } from './host.ts'
import { modelMethods } from './models.ts'
import { pruneMethods } from './retention.ts'
import { skillMethods } from './skills.ts'
import { summaryMethods } from './summary.ts'

/** Maximum messages of one request on the bus. The gateway drops older messages. */
export const maxMessagesPerRequest = 256
/** Maximum parts of one message on the bus. */
export const maxMessageParts = 256
/** Maximum size of a tool result of an earlier answer, in bytes; longer ones are truncated for the model. */
export const maxEarlierResultBytes = 2_048

/** A part of a message in the format of the AI SDK. */
export const AgentMessagePart = z.looseObject({ type: z.string().max(128) })

/** A message in the format of the AI SDK. The model does not receive parts of unknown types. */
export const AgentMessage = z.object({
  id: z.string().max(128).optional(),
  /** Any role other than `assistant` counts as the user. */
  role: z.string().max(32),
  parts: z.array(AgentMessagePart).max(maxMessageParts),
})
export type AgentMessage = z.infer<typeof AgentMessage>

/** The page that the user has open. */
export const PageContext = z.object({
  route: z.string().max(200),
  label: z.string().max(200),
  /** The subject of the page, such as a table, a query or a time range. */
  about: z
    .array(z.object({ name: z.string().max(40), value: z.string().max(300) }))
    .max(16)
    .default([]),
})

/** A request with the previous messages of the conversation. */
export const AgentQuestion = z.object({
  /** The host of the conversation, and its position in the caller's host list. */
  hostKey: HostKey,
  hostId: z.int(),
  messages: z.array(AgentMessage).min(1).max(maxMessagesPerRequest),
  /** `provider:model`; null selects the default model. */
  model: z.string().max(256).nullable().default(null),
  /** The caller's own key for the gateway of the model. It is discarded after the run. */
  apiKey: z.string().max(512).nullable().default(null),
  /** Names of tools that the model cannot use. */
  disabledTools: z.array(z.string().max(128)).max(256).default([]),
  userServers: z.array(UserToolServer).max(maxUserToolServers).default([]),
  /** The page that the user has open. */
  page: PageContext.nullable().default(null),
})
export type AgentQuestion = z.infer<typeof AgentQuestion>

/** Id of a run: the instance that it runs on, a dot, and a random part. */
export const AgentRunId = z.string().regex(/^[a-z0-9-]{1,64}\.[\w-]{22}$/, 'must be the id of a run')
/** Id of an approval request: the id of the run, a dot, and a number. */
export const ApprovalId = z
  .string()
  .regex(/^[a-z0-9-]{1,64}\.[\w-]{22}\.[1-9]\d{0,3}$/, 'must be the id of an approval request')

/** Input of each tool that changes a host. The input is that of the corresponding action. */
export const controlToolInputs = {
  kill_query: actionParameters.killQuery,
  optimize_table: actionParameters.optimizeTable,
  kill_mutation: actionParameters.killMutation,
} as const

const controlRequest = <T extends z.ZodRawShape, N extends string>(tool: N, input: T) =>
  z.object({ tool: z.literal(tool), hostKey: HostKey, input: z.object(input) })

/** An action on a host that a run requests. */
export const HostActionRequest = z.discriminatedUnion('tool', [
  controlRequest('kill_query', controlToolInputs.kill_query),
  controlRequest('optimize_table', controlToolInputs.optimize_table),
  controlRequest('kill_mutation', controlToolInputs.kill_mutation),
])
export type HostActionRequest = z.infer<typeof HostActionRequest>

const common = { callers: ['gateway'], feature: 'AGENT' } as const
const runInput = { runId: AgentRunId }
const approvalInput = { approvalId: ApprovalId }

/** Responds to requests in natural language. A run continues without its caller; callers read its output by its id. */
export const agent = service('agent', {
  start: rpc({
    doc: 'Starts a run. The run continues without its caller, and stops if its output is not read for a minute. `busy` if this process has no capacity; `unavailable` with reason `provider-not-configured` without a key.',
    ...common,
    elsewhere: true,
    input: AgentQuestion,
    output: z.object({ runId: AgentRunId }),
  }),
  read: rpc({
    doc: 'Returns the events of a run after the specified one, and waits for a while if there are none yet. `gone` if the run ended more than five minutes ago, or if that event is no longer stored.',
    ...common,
    exact: 'runId',
    safe: true,
    input: z.object({
      ...runInput,
      /** Number of the last event that the caller has received; 0 before the first. */ after: z.int().min(0),
    }),
    output: z.object({
      /** Server-sent events for the client, each with its number as `id`. */
      events: z.string(),
      /** Number of the last event. */
      last: z.int().min(0),
      ended: z.boolean(),
    }),
  }),
  stop: rpc({
    doc: 'Stops a run, with its requests to models and hosts. Stopping a finished run changes nothing.',
    ...common,
    exact: 'runId',
    input: z.object(runInput),
    output: z.object({ stopped: z.boolean() }),
  }),
  takeApproval: rpc({
    doc: 'Returns the approval request of a run, once; the caller that takes it resolves it. `gone` when it is resolved, taken or five minutes old.',
    ...common,
    exact: 'approvalId',
    input: z.object(approvalInput),
    output: HostActionRequest,
  }),
  resolveApproval: rpc({
    doc: 'Reports the outcome of an approval request to its run.',
    ...common,
    exact: 'approvalId',
    input: z.object({
      ...approvalInput,
      outcome: z.discriminatedUnion('state', [
        z.object({ state: z.literal('denied') }),
        /** The result of the action, as returned by the host. */
        z.object({ state: z.literal('done'), result: z.record(z.string(), z.unknown()) }),
        z.object({ state: z.literal('failed'), message: z.string().max(2_000) }),
      ]),
    }),
    output: z.object({}),
  }),
  decideEgress: rpc({
    doc: 'Approves or denies a call that sends its arguments to an external server. `gone` when it is decided or five minutes old; `forbidden` for API keys.',
    ...common,
    exact: 'approvalId',
    input: z.object({ ...approvalInput, approved: z.boolean() }),
    output: z.object({}),
  }),
  ...conversationMethods,
  ...modelMethods,
  ...skillMethods,
  ...summaryMethods,
  ...externalToolMethods,
  ...pruneMethods,
})
