import { signingKey, whole, flag } from '#shared/config/setting.ts'

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

/** Who may use the tool server. */
export const toolServerSettings = {
  SVC_MCP_PUBLIC: flag(
    false,
    'Opens /api/mcp to everybody, and to pages of every origin: any web page that a user visits can read a public tool server on loopback or in the network of the user. Without effect where API keys or an identity provider are configured.',
  ),
} as const
