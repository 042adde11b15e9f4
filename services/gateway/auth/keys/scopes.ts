import type { Identity, Scope } from '#proto/call.ts'
import type { Route } from '../../route.ts'

/**
 * Whether the scopes of a caller open a route; callers without scopes are not limited by any. The agent and the tool server
 * have scopes of their own, which open nothing else: what they read on the way is for their caller's features to allow.
 */
export const scopesOpen = ({ scopes }: Identity, { access, feature }: Pick<Route, 'access' | 'feature'>): boolean => {
  if (scopes === undefined || access === 'anonymous' || access === 'own-bearer') return true
  return openingScopes({ access, feature }).some((scope) => scopes.includes(scope))
}

/** The scopes of which any one opens a route, the narrowest first. */
export const openingScopes = ({ access, feature }: Pick<Route, 'access' | 'feature'>): readonly Scope[] => {
  if (feature === 'AGENT') return ['agent']
  if (feature === 'MCP') return ['mcp']
  return access === 'write' ? ['write'] : ['read', 'write']
}
