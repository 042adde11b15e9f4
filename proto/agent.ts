import { z } from 'zod'
import { actionParameters } from './actions.ts'
import { rpc, service } from './contract.ts'
import { conversationMethods } from './conversations.ts'
import { externalToolMethods, mostUserServers, UserServer } from './external-tools.ts'
import { HostKey } from './host.ts'
import { modelMethods } from './models.ts'
import { pruneMethods } from './prune.ts'
import { skillMethods } from './skills.ts'
import { summaryMethods } from './summary.ts'

/** Most messages of one question that the contract carries; `SVC_AGENT_MAX_MESSAGES` lowers it. */
export const mostMessages = 256

/** One message as the AI SDK writes it; parts of types that are not known are left out of what the model reads. */
export const AgentMessage = z.object({
  id: z.string().max(128).optional(),
  /** Whatever is not `assistant` counts as the person's own words. */
  role: z.string().max(32),
  parts: z.array(z.looseObject({ type: z.string().max(128) })).max(256),
})
export type AgentMessage = z.infer<typeof AgentMessage>

/** What a person looks at while they ask. */
export const SeenPage = z.object({
  route: z.string().max(200),
  label: z.string().max(200),
  /** What the page is about, such as a table, a query or a range of time. */
  about: z
    .array(z.object({ name: z.string().max(40), value: z.string().max(300) }))
    .max(16)
    .default([]),
})

/** A question with all that was said before it. */
export const AgentQuestion = z.object({
  /** The host that the conversation is about, and its position as its caller knows it. */
  hostKey: HostKey,
  hostId: z.int(),
  messages: z.array(AgentMessage).min(1).max(mostMessages),
  /** `provider:model`; null takes the one of the settings. */
  model: z.string().max(256).nullable().default(null),
  /** The caller's own key for the gateway of the model; kept no longer than the run. */
  apiKey: z.string().max(512).nullable().default(null),
  /** Names of tools that the model is not to have. */
  disabledTools: z.array(z.string().max(128)).max(256).default([]),
  userServers: z.array(UserServer).max(mostUserServers).default([]),
  /** What the person looks at. */
  page: SeenPage.nullable().default(null),
})
export type AgentQuestion = z.infer<typeof AgentQuestion>

/** Name of a run: the instance that it runs on, a dot, and what nobody guesses. */
export const AgentRunId = z.string().regex(/^[a-z0-9-]{1,64}\.[\w-]{22}$/, 'must be the id of a run')
/** Name of something that a run wants to do: the id of the run, a dot, and a number. */
export const ApprovalId = z
  .string()
  .regex(/^[a-z0-9-]{1,64}\.[\w-]{22}\.[1-9]\d{0,3}$/, 'must be the id of a wish for approval')

/** The tools that change a host, with what the action of the same name is told. */
export const controlTools = {
  kill_query: actionParameters.killQuery,
  optimize_table: actionParameters.optimizeTable,
  kill_mutation: actionParameters.killMutation,
} as const

const wished = <T extends z.ZodRawShape, N extends string>(tool: N, input: T) =>
  z.object({ tool: z.literal(tool), hostKey: HostKey, input: z.object(input) })

/** What a run wants to have done to a host. */
export const ControlWish = z.discriminatedUnion('tool', [
  wished('kill_query', controlTools.kill_query),
  wished('optimize_table', controlTools.optimize_table),
  wished('kill_mutation', controlTools.kill_mutation),
])
export type ControlWish = z.infer<typeof ControlWish>

const common = { callers: ['gateway'], feature: 'AGENT' } as const
const ofRun = { runId: AgentRunId }
const ofApproval = { approvalId: ApprovalId }

/** Answers questions in words: a run thinks and calls tools by itself, and whoever knows its id reads what comes of it. */
export const agent = service('agent', {
  start: rpc({
    doc: 'Begins to answer. The run goes on without its caller, and ends when nobody has read it for a minute. `busy` when no more runs fit here; `unavailable` with reason `provider-not-configured` without a key.',
    ...common,
    elsewhere: true,
    input: AgentQuestion,
    output: z.object({ runId: AgentRunId }),
  }),
  read: rpc({
    doc: 'What a run has told after an event, waiting for a while when there is nothing yet. `gone` when it is over for five minutes, or when that event is no longer kept.',
    ...common,
    exact: 'runId',
    safe: true,
    input: z.object({
      ...ofRun,
      /** Number of the last event that was read; 0 before the first. */ after: z.int().min(0),
    }),
    output: z.object({
      /** Server-sent events as they go to the reader, each with its number as `id`. */
      events: z.string(),
      /** Number of the last of them. */
      last: z.int().min(0),
      ended: z.boolean(),
    }),
  }),
  stop: rpc({
    doc: 'Ends a run, with whatever it asks of models and hosts. Stopping one that has ended changes nothing.',
    ...common,
    exact: 'runId',
    input: z.object(ofRun),
    output: z.object({ stopped: z.boolean() }),
  }),
  takeApproval: rpc({
    doc: 'Hands over what a run wishes to have done, once: whoever takes it settles it. `gone` when it is settled, taken or five minutes old.',
    ...common,
    exact: 'approvalId',
    input: z.object(ofApproval),
    output: ControlWish,
  }),
  settleApproval: rpc({
    doc: 'Tells a run what came of its wish.',
    ...common,
    exact: 'approvalId',
    input: z.object({
      ...ofApproval,
      outcome: z.discriminatedUnion('state', [
        z.object({ state: z.literal('denied') }),
        /** What the host says of it. */
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
    input: z.object({ ...ofApproval, approved: z.boolean() }),
    output: z.object({}),
  }),
  ...conversationMethods,
  ...modelMethods,
  ...skillMethods,
  ...summaryMethods,
  ...externalToolMethods,
  ...pruneMethods,
})
