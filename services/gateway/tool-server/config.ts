import { flag } from '#shared/config/setting.ts'

/** Who may use the tool server. */
export const toolServerSettings = {
  SVC_MCP_PUBLIC: flag(
    false,
    'Opens /api/mcp to everybody; without effect where API keys or an identity provider are configured.',
  ),
} as const
