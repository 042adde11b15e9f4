import { describe, expect, it } from 'vitest'
import { features, type Identity } from '#proto/call.ts'
import { ServiceError } from '#proto/errors.ts'
import { read } from '#shared/config/setting.ts'
import type { AnonymousRight } from '../auth/provider.ts'
import { shown } from '../response/answer-failure.ts'
import { anonymous } from '../auth/identity.ts'
import type { Access } from '../http-route.ts'
import { featureSettings } from './config.ts'
import { resolvePermissions, type Policy } from './policy.ts'
import { explained, refusalOf, usableFeatures } from './refusal.ts'

const policy = (right: AnonymousRight, env: Record<string, string> = {}): Policy => ({
  permissions: resolvePermissions(read(featureSettings, env), {}),
  anonymous: right,
})
const user: Identity = { kind: 'user', subject: 'ada', features: 'all' }
const guest: Identity = { kind: 'guest', subject: 'g', features: 'all' }
const key = (...scopes: string[]): Identity => ({ kind: 'key', subject: 'k', features: 'all', scopes })

const statusOf = (error: unknown): string => {
  if (error === undefined) return 'in'
  const { status, type } = shown(error)
  return `${status} ${type}`
}
const signIn = '401 unauthenticated'
const forbidden = '403 forbidden'

describe('who may call, by the mode of the service', () => {
  const accesses: readonly Access[] = ['anonymous', 'own-bearer', 'read', 'write']
  const rows: [mode: AnonymousRight, who: string, identity: Identity, ...expected: string[]][] = [
    ['write', 'a stranger', anonymous, 'in', 'in', 'in', 'in'],
    ['read', 'a stranger', anonymous, 'in', 'in', 'in', signIn],
    ['nothing', 'a stranger', anonymous, 'in', 'in', signIn, signIn],
    ['read', 'a guest', guest, 'in', 'in', 'in', signIn],
    ['nothing', 'a guest', guest, 'in', 'in', signIn, signIn],
    ['read', 'a person', user, 'in', 'in', 'in', 'in'],
    ['nothing', 'a person', user, 'in', 'in', 'in', 'in'],
    ['nothing', 'a key that may write', key('write'), 'in', 'in', 'in', 'in'],
    ['nothing', 'a key that may read', key('read'), 'in', 'in', 'in', forbidden],
    ['write', 'a key that may read', key('read'), 'in', 'in', 'in', forbidden],
    ['nothing', 'a key for something else', key('mcp'), 'in', 'in', forbidden, forbidden],
  ]
  it.each(rows)('strangers may %s: %s', (mode, _who, identity, ...expected) => {
    const decided = accesses.map((access) => statusOf(refusalOf({ access, feature: null }, identity, policy(mode))))
    expect(decided).toEqual(expected)
  })

  it('lets guests, and no other stranger, use the routes that are open to them', () => {
    const route = { access: 'write', feature: 'AGENT', guests: true } as const
    expect(statusOf(refusalOf(route, guest, policy('read')))).toBe('in')
    expect(statusOf(refusalOf(route, anonymous, policy('read')))).toBe(signIn)
    expect(statusOf(refusalOf(route, guest, policy('read', { SVC_FEATURE_AGENT_ACCESS: 'authenticated' })))).toBe(
      signIn,
    )
  })
})

describe('a feature', () => {
  const off = { SVC_DISABLED_FEATURES: 'TABLES' }
  const known = { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }
  const without: Identity = { ...user, features: ['ABOUT'] }
  const disabled = '404 feature-disabled'
  const rows: [said: Record<string, string>, access: Access, who: string, identity: Identity, expected: string][] = [
    [off, 'read', 'a stranger', anonymous, disabled],
    [off, 'write', 'a person', user, disabled],
    [off, 'anonymous', 'a stranger', anonymous, disabled],
    [off, 'own-bearer', 'a stranger', anonymous, disabled],
    [off, 'read', 'who lacks it too', without, disabled],
    [known, 'read', 'a stranger', anonymous, signIn],
    [known, 'anonymous', 'a stranger', anonymous, 'in'],
    [known, 'own-bearer', 'a stranger', anonymous, 'in'],
    [known, 'read', 'a person', user, 'in'],
    [known, 'read', 'a key', key('read'), 'in'],
    [known, 'read', 'a person without it', without, forbidden],
    [{}, 'read', 'a person without it', without, forbidden],
    [{}, 'read', 'a stranger', anonymous, 'in'],
  ]
  it.each(rows)('with %j, access %s, %s', (said, access, _who, identity, expected) => {
    expect(statusOf(refusalOf({ access, feature: 'TABLES' }, identity, policy('write', said)))).toBe(expected)
  })

  it.each([
    [off, anonymous, disabled],
    [known, anonymous, signIn],
    [known, without, forbidden],
    [{}, without, forbidden],
  ])('that a service refuses is refused for the same reason at the door: %j', (said, identity, expected) => {
    const refused = new ServiceError('forbidden', 'the chart x is not open to you', { details: { feature: 'TABLES' } })
    expect(statusOf(explained(refused, identity, policy('write', said)))).toBe(expected)
  })

  it.each([
    new ServiceError('forbidden', 'the host refuses'),
    new ServiceError('forbidden', 'odd', { details: { feature: 'constructor' } }),
    new ServiceError('invalid', 'odd', { details: { feature: 'TABLES' } }),
    new Error('odd'),
  ])('has nothing to do with other failures: %s', (error) => {
    expect(explained(error, anonymous, policy('write', off))).toBe(error)
  })
})

describe('the features of a caller', () => {
  const others = features.filter((feature) => feature !== 'TABLES')
  const rows: [identity: Identity, said: Record<string, string>, expected: Identity['features']][] = [
    [anonymous, {}, 'all'],
    [anonymous, { SVC_DISABLED_FEATURES: 'TABLES' }, others],
    [user, { SVC_DISABLED_FEATURES: 'TABLES' }, others],
    [anonymous, { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }, others],
    [guest, { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }, others],
    [user, { SVC_AUTH_REQUIRED_FEATURES: 'TABLES' }, 'all'],
    [{ ...user, features: ['ABOUT', 'TABLES'] }, { SVC_DISABLED_FEATURES: 'TABLES' }, ['ABOUT']],
  ]
  it.each(rows)('are those of %j that %j leaves', (identity, env, expected) => {
    expect(usableFeatures(identity, policy('write', env).permissions)).toEqual(expected)
  })
})
