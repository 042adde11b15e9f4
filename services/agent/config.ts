import { flag, maybeFlag, whole } from '#shared/config/setting.ts'
import { conversationSettings, conversationProblems } from './conversations/choose.ts'
import { externalSettings } from './external/config.ts'
import { modelSettings } from './models/config.ts'
import { partGuardSettings } from './part-guard.ts'
import { verboseSettings } from './verbose.ts'

/** What the agent itself obeys. */
export const agentSettings = {
  SVC_AGENT_MAX_MESSAGES: whole(64, 'Most messages that one question to the agent may bring along.', {
    min: 1,
    max: 256,
  }),
  SVC_AGENT_MAX_STEPS: whole(16, 'Times that the model is asked for one answer of the agent.', { min: 1, max: 64 }),
  SVC_AGENT_RUN_SECONDS: whole(120, 'How long one answer of the agent may take, without waiting for approvals.', {
    min: 1,
    max: 3_600,
  }),
  SVC_AGENT_STEP_SECONDS: whole(45, 'How long the model may take for one step of an answer.', { min: 1, max: 600 }),
  SVC_AGENT_MAX_TOKENS: whole(400_000, 'Most tokens, read and written, of one answer of the agent.', { min: 1_000 }),
  SVC_AGENT_MAX_COST_CENTS: whole(
    100,
    'Most that one answer of the agent may cost, in US cents, where the price of the model is known; 0 is no limit.',
  ),
  SVC_AGENT_TOOL_RESULT_BYTES: whole(16_384, 'Most bytes that the model reads of one result of a tool.', {
    min: 1_024,
    max: 262_144,
  }),
  SVC_AGENT_MAX_RUNS: whole(200, 'Answers that one process of the agent works at; more are told to come back.', {
    min: 1,
    max: 1_000,
  }),
  AGENT_ENABLE_CONTROL_TOOLS: maybeFlag(
    'Whether the agent may wish to kill queries and mutations and to optimise tables; unset, it may for everybody where there is no sign-in and for people who are signed in, and never in cloud mode.',
  ),
  SVC_FEATURE_REPLDB_AGENT: flag(
    false,
    'Whether the agent may read of the replication service of REPLDB_API_URL, which tells its model of mirrors, slots and lines of logs.',
  ),
} as const

/** What the agent obeys. */
export const settings = {
  ...agentSettings,
  ...modelSettings,
  ...externalSettings,
  ...partGuardSettings,
  ...verboseSettings,
  ...conversationSettings,
} as const

/** What is wrong with the settings taken together. */
export const problems = conversationProblems
