import type { Scope } from '#proto/call.ts'

/** Every scope, in the order in which they are offered. */
export const scopeNames: readonly Scope[] = ['read', 'write', 'agent', 'mcp']

/** What each scope of a key allows. */
export const scopeWords: Readonly<Record<Scope, string>> = {
  read: 'read what is shown',
  write: 'change things and run SQL',
  agent: 'ask the agent',
  mcp: 'use the tool server',
}
