import { flag } from '#shared/config/setting.ts'

/** What the tool server obeys. */
export const settings = {
  SVC_MCP_FULL_STATEMENTS: flag(
    false,
    'Tools of the tool server tell statements with the values in them; otherwise each value is a question mark.',
  ),
} as const
