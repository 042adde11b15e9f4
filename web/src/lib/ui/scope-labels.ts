import type { ApiKeyScope } from '#proto/call.ts'

/** All scopes, in display order. */
export const scopeNames: readonly ApiKeyScope[] = ['read', 'write', 'agent', 'mcp']

/** The permissions that each scope of an API key grants. */
export const scopeLabels: Readonly<Record<ApiKeyScope, string>> = {
  read: 'read data',
  write: 'run actions and SQL',
  agent: 'ask the agent',
  mcp: 'use the MCP server',
}
