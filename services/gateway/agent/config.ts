import { signingKeySetting, wholeNumberSetting, flagSetting } from '#shared/config/setting.ts'

/** Settings of the agent routes. */
export const agentRouteSettings = {
  AGENT_API_TOKEN: signingKeySetting(
    'Shared bearer token for programs that call the agent; accepted while SVC_FEATURE_AGENT_ACCESS is authenticated.',
  ),
  SVC_AGENT_MAX_BODY_BYTES: wholeNumberSetting(
    8_388_608,
    'Maximum body size of an agent request, in bytes. Clients send the whole conversation with each question.',
    { min: 1_024, max: 33_554_432 },
  ),
} as const

/** Settings of the MCP server. */
export const mcpAccessSettings = {
  SVC_MCP_PUBLIC: flagSetting(
    false,
    'Allow anonymous access to /api/mcp, from pages of every origin too: any web page that a user visits can read a public MCP server on loopback or in the network of the user. Ignored when API keys or an identity provider are configured.',
  ),
} as const
