import { expect, it } from 'vitest'
import { scopes, type Identity } from '#proto/call.ts'
import type { Route } from '../http-route.ts'
import { hasScopeForRoute } from './authorization.ts'

const key = (...held: string[]): Identity => ({ kind: 'key', subject: 'ada', features: 'all', scopes: held })

/** Access and feature of a route, and the scopes that are sufficient for it. */
const rows: [access: Route['access'], feature: Route['feature'], allowed: string[]][] = [
  ['anonymous', null, [...scopes, 'later']],
  ['own-bearer', 'ACTIONS', [...scopes, 'later']],
  ['read', 'QUERIES', ['read', 'write']],
  ['read', null, ['read', 'write']],
  ['write', 'ACTIONS', ['write']],
  ['write', null, ['write']],
  ['write', 'AGENT', ['agent']],
  ['read', 'AGENT', ['agent']],
  ['write', 'MCP', ['mcp']],
]

it.each(rows)('a route of access %s and feature %s is allowed by %j', (access, feature, allowed) => {
  const allowing = [...scopes, 'later'].filter((scope) => hasScopeForRoute(key(scope), { access, feature }))
  expect(allowing).toEqual(allowed)
  expect(hasScopeForRoute(key(...scopes), { access, feature })).toBe(true)
})

it('do not limit callers without scopes, such as users', () => {
  for (const [access, feature] of rows) {
    expect(hasScopeForRoute({ kind: 'user', subject: 'ada', features: 'all' }, { access, feature })).toBe(true)
  }
})
