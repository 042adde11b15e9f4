import { flagSetting } from '#shared/config/setting.ts'

/** Settings of the MCP server. */
export const settings = {
  SVC_MCP_FULL_STATEMENTS: flagSetting(
    false,
    'Whether MCP tools return queries with their literal values; otherwise each value is replaced by a question mark.',
  ),
} as const
