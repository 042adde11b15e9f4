import { signingKey, whole } from '#shared/config/setting.ts'

/** What lets callers ask the agent, and how much they may send. */
export const agentDoorSettings = {
  AGENT_API_TOKEN: signingKey(
    'Bearer that may ask the agent, for programs that share one; it counts while SVC_FEATURE_AGENT_ACCESS is authenticated.',
  ),
  SVC_AGENT_MAX_BODY_BYTES: whole(131_072, 'Longest body of a question to the agent, in bytes.', {
    min: 1_024,
    max: 524_288,
  }),
} as const
