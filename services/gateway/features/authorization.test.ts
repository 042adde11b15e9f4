import { describe, expect, it } from 'vitest'
import { features, type Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { parseSettings } from '#shared/config/setting.ts'
import type { AnonymousAccess } from '../auth/provider.ts'
import { toPublicError } from '../response/error-response.ts'
import { anonymousCaller } from '../auth/identity.ts'
import type { RouteAccessLevel } from '../http-route.ts'
import { featureSettings } from './config.ts'
import { resolvePermissions, type AccessPolicy } from './policy.ts'
import { explainForbiddenError, findRouteAccessError, listUsableFeatures } from './authorization.ts'

const policy = (right: AnonymousAccess, env: Record<string, string> = {}): AccessPolicy => ({
  permissions: resolvePermissions(parseSettings(featureSettings, env), {}),
  anonymous: right,
})
const user: Identity = { kind: 'user', subject: 'ada', features: 'all' }
const guest: Identity = { kind: 'guest', subject: 'g', features: 'all' }
const key = (...scopes: string[]): Identity => ({ kind: 'key', subject: 'k', features: 'all', scopes })

const statusOf = (error: unknown): string => {
  if (error === undefined) return 'in'
  const { status, type } = toPublicError(error)
  return `${status} ${type}`
}
const signIn = '401 unauthenticated'
const forbidden = '403 forbidden'

describe('who may call, by the mode of the service', () => {
  const accesses: readonly RouteAccessLevel[] = ['anonymous', 'own-bearer', 'read', 'write']
  const rows: [mode: AnonymousAccess, who: string, identity: Identity, ...expected: string[]][] = [
    ['write', 'anonymous', anonymousCaller, 'in', 'in', 'in', 'in'],
    ['read', 'anonymous', anonymousCaller, 'in', 'in', 'in', signIn],
    ['nothing', 'anonymous', anonymousCaller, 'in', 'in', signIn, signIn],
    ['read', 'a guest', guest, 'in', 'in', 'in', signIn],
    ['nothing', 'a guest', guest, 'in', 'in', signIn, signIn],
    ['read', 'a user', user, 'in', 'in', 'in', 'in'],
    ['nothing', 'a user', user, 'in', 'in', 'in', 'in'],
    ['nothing', 'a key with write scope', key('write'), 'in', 'in', 'in', 'in'],
    ['nothing', 'a key with read scope', key('read'), 'in', 'in', 'in', forbidden],
    ['write', 'a key with read scope', key('read'), 'in', 'in', 'in', forbidden],
    ['nothing', 'a key with another scope', key('mcp'), 'in', 'in', forbidden, forbidden],
  ]
  it.each(rows)('anonymous may %s: %s', (mode, _who, identity, ...expected) => {
    const outcomes = accesses.map((access) =>
      statusOf(findRouteAccessError({ access, feature: null }, identity, policy(mode))),
    )
    expect(outcomes).toEqual(expected)
  })

  it('lets guests, but no anonymous callers, use guest routes', () => {
    const route = { access: 'write', feature: 'AGENT', guests: true } as const
    expect(statusOf(findRouteAccessError(route, guest, policy('read')))).toBe('in')
    expect(statusOf(findRouteAccessError(route, anonymousCaller, policy('read')))).toBe(signIn)
    expect(
      statusOf(findRouteAccessError(route, guest, policy('read', { SVC_FEATURE_AGENT_ACCESS: 'authenticated' }))),
    ).toBe(signIn)
  })
})

describe('a feature', () => {
  const off = { SVC_DISABLED_FEATURES: 'TABLES' }
  const authRequired = { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }
  const without: Identity = { ...user, features: ['ABOUT'] }
  const disabled = '404 feature-disabled'
  const rows: [
    env: Record<string, string>,
    access: RouteAccessLevel,
    who: string,
    identity: Identity,
    expected: string,
  ][] = [
    [off, 'read', 'anonymous', anonymousCaller, disabled],
    [off, 'write', 'a user', user, disabled],
    [off, 'anonymous', 'anonymous', anonymousCaller, disabled],
    [off, 'own-bearer', 'anonymous', anonymousCaller, disabled],
    [off, 'read', 'a user without it', without, disabled],
    [authRequired, 'read', 'anonymous', anonymousCaller, signIn],
    [authRequired, 'anonymous', 'anonymous', anonymousCaller, 'in'],
    [authRequired, 'own-bearer', 'anonymous', anonymousCaller, 'in'],
    [authRequired, 'read', 'a user', user, 'in'],
    [authRequired, 'read', 'a key', key('read'), 'in'],
    [authRequired, 'read', 'a user without it', without, forbidden],
    [{}, 'read', 'a user without it', without, forbidden],
    [{}, 'read', 'anonymous', anonymousCaller, 'in'],
  ]
  it.each(rows)('with %j, access %s, %s', (env, access, _who, identity, expected) => {
    expect(statusOf(findRouteAccessError({ access, feature: 'TABLES' }, identity, policy('write', env)))).toBe(expected)
  })

  it.each([
    [off, anonymousCaller, disabled],
    [authRequired, anonymousCaller, signIn],
    [authRequired, without, forbidden],
    [{}, without, forbidden],
  ])('explains the refusal of a service: %j', (env, identity, expected) => {
    const serviceError = new ServiceError('forbidden', 'you do not have access to the chart x', {
      details: { feature: 'TABLES' },
    })
    expect(statusOf(explainForbiddenError(serviceError, identity, policy('write', env)))).toBe(expected)
  })

  it.each([
    new ServiceError('forbidden', 'the host refuses'),
    new ServiceError('forbidden', 'odd', { details: { feature: 'constructor' } }),
    new ServiceError('invalid', 'odd', { details: { feature: 'TABLES' } }),
    new Error('odd'),
  ])('leaves other failures unchanged: %s', (error) => {
    expect(explainForbiddenError(error, anonymousCaller, policy('write', off))).toBe(error)
  })
})

describe('the features of a caller', () => {
  const others = features.filter((feature) => feature !== 'TABLES')
  const rows: [identity: Identity, env: Record<string, string>, expected: Identity['features']][] = [
    [anonymousCaller, {}, 'all'],
    [anonymousCaller, { SVC_DISABLED_FEATURES: 'TABLES' }, others],
    [user, { SVC_DISABLED_FEATURES: 'TABLES' }, others],
    [anonymousCaller, { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }, others],
    [guest, { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }, others],
    [user, { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }, 'all'],
    [{ ...user, features: ['ABOUT', 'TABLES'] }, { SVC_DISABLED_FEATURES: 'TABLES' }, ['ABOUT']],
  ]
  it.each(rows)('for %j with %j', (identity, env, expected) => {
    expect(listUsableFeatures(identity, policy('write', env).permissions)).toEqual(expected)
  })
})
