import { flag } from '#shared/config/setting.ts'

/** Who may use the tool server. */
export const toolServerSettings = {
  SVC_MCP_PUBLIC: flag(
    false,
    'Opens /api/mcp to everybody, and to pages of every origin: any web page that a user visits can read a public tool server on loopback or in the network of the user. Without effect where API keys or an identity provider are configured.',
  ),
} as const
