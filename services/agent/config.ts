import { flagSetting, optionalFlagSetting, wholeNumberSetting } from '#shared/config/setting.ts'
import { conversationSettings, findConversationProblems } from './conversations/store-choice.ts'
import { externalSettings } from './external-tools/config.ts'
import { modelSettings } from './models/config.ts'
import { chartValidationSettings } from './validate-data-part.ts'
import { verboseLogSettings } from './verbose-log.ts'

/** Settings of the agent itself. */
export const agentSettings = {
  SVC_AGENT_MAX_MESSAGES: wholeNumberSetting(
    64,
    'Number of the latest messages of a conversation that the agent reads; older messages are ignored.',
    { min: 1, max: 256 },
  ),
  SVC_AGENT_MAX_STEPS: wholeNumberSetting(16, 'Maximum number of model calls per agent run.', { min: 1, max: 64 }),
  SVC_AGENT_RUN_SECONDS: wholeNumberSetting(
    300,
    'Timeout of one agent run in seconds, excluding time spent waiting for approvals.',
    {
      min: 1,
      max: 3_600,
    },
  ),
  SVC_AGENT_STEP_SECONDS: wholeNumberSetting(
    45,
    'Maximum time without output of the model, and timeout of one tool call, in seconds.',
    { min: 1, max: 600 },
  ),
  SVC_AGENT_MAX_TOKENS: wholeNumberSetting(400_000, 'Maximum number of tokens, input and output, per agent run.', {
    min: 1_000,
  }),
  SVC_AGENT_MAX_COST_CENTS: wholeNumberSetting(
    100,
    'Maximum cost of one agent run in US cents, as charged by the gateway or estimated from the price of the model; 0 disables the limit.',
  ),
  SVC_AGENT_TOOL_RESULT_BYTES: wholeNumberSetting(
    16_384,
    'Maximum size of a tool result that is passed to the model, in bytes.',
    {
      min: 1_024,
      max: 262_144,
    },
  ),
  SVC_AGENT_MAX_RUNS: wholeNumberSetting(
    200,
    'Maximum number of concurrent agent runs per process; further requests are rejected with Retry-After.',
    {
      min: 1,
      max: 1_000,
    },
  ),
  AGENT_ENABLE_CONTROL_TOOLS: optionalFlagSetting(
    'Whether the agent can request to kill queries, kill mutations and optimize tables. Unset: allowed for everyone without an auth provider and for signed-in users with one; off in cloud mode.',
  ),
  SVC_FEATURE_REPLDB_AGENT: flagSetting(
    false,
    'Whether the agent can read the replication service at REPLDB_API_URL. Mirrors, slots and log lines are then sent to the model.',
  ),
} as const

/** All settings of the agent. */
export const settings = {
  ...agentSettings,
  ...modelSettings,
  ...externalSettings,
  ...chartValidationSettings,
  ...verboseLogSettings,
  ...conversationSettings,
} as const

/** Returns the problems of settings that are valid on their own, but not in combination. */
export const problems = findConversationProblems
