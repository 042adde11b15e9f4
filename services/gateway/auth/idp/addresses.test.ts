import { describe, expect, it } from 'vitest'
import type { BuildInfo } from '#proto/http/build.ts'
import { resolveIdpAddresses } from './addresses.ts'
import { readPublishableKey } from '../config.ts'

const keyOf = (host: string, kind = 'live') => `pk_${kind}_${Buffer.from(`${host}$`).toString('base64')}`

describe('a publishable key', () => {
  it.each([
    [keyOf('clerk.example.com'), 'https://clerk.example.com'],
    [keyOf('happy-fox-1.clerk.accounts.dev', 'test'), 'https://happy-fox-1.clerk.accounts.dev'],
    [keyOf('clerk.example.com').replace(/=+$/, ''), 'https://clerk.example.com'],
    [` ${keyOf('clerk.example.com:8443')} `, 'https://clerk.example.com:8443'],
    [keyOf('clerk.example.com', 'prod_eu'), 'https://clerk.example.com'],
    [keyOf('clerk.example.com').replace('live_', ''), 'https://clerk.example.com'],
  ])('%s contains %s', (key, origin) => {
    expect(readPublishableKey(key).issuer?.origin).toBe(origin)
  })

  it.each([
    'pk_x',
    'pk_live_x',
    'pk_prod_0123456789abcdef',
    'pk_eu-1_Y2xlcmsuZXhhbXBsZS5jb20',
    `pk_live_${Buffer.from('clerk.example.com').toString('base64')}`,
    keyOf('localhost'),
    keyOf('a.b/c'),
    keyOf('user@a.b'),
    keyOf('a.b:99999'),
    keyOf('a.b?c'),
    keyOf('a.b$'),
    'pk_live_!!!!',
  ])('is accepted as %j, which contains no host', (key) => {
    expect(readPublishableKey(key)).toEqual({ issuer: undefined })
    const issuer = { IDP_OAUTH_ISSUER: 'https://login.example.com' }
    expect(resolveIdpAddresses({ SVC_IDP_PUBLISHABLE_KEY: key }, undefined)).toBeUndefined()
    expect(resolveIdpAddresses({ SVC_IDP_PUBLISHABLE_KEY: key, ...issuer }, undefined)?.issuer).toBe(
      'https://login.example.com',
    )
  })

  it.each(['', 'pk_', 'pk_a b', 'sk_live_Y2xlcmsuZXhhbXBsZS5jb20k', 'PK_live_x', 'x pk_live_x'])('is not %j', (key) => {
    expect(() => readPublishableKey(key)).toThrow('must be a publishable key')
  })
})

describe('the identity provider', () => {
  const built = (key: string): BuildInfo => ({
    version: '1.0.0',
    gitSha: null,
    gitRef: null,
    builtAt: null,
    client: { CLIENT_IDP_PUBLISHABLE_KEY: key },
  })

  it('has the URLs of its publishable key', () => {
    expect(resolveIdpAddresses({ SVC_IDP_PUBLISHABLE_KEY: keyOf('clerk.example.com') }, undefined)).toEqual({
      issuer: 'https://clerk.example.com',
      keys: 'https://clerk.example.com/.well-known/jwks.json',
      signIn: 'https://accounts.example.com/sign-in',
      handshake: 'https://clerk.example.com/v1/client/handshake',
    })
  })

  it.each([
    [{ IDP_OAUTH_ISSUER: 'https://login.example.com/tenant/' }, 'https://login.example.com/tenant'],
    [
      { IDP_OAUTH_ISSUER: 'login.example.com', SVC_IDP_PUBLISHABLE_KEY: keyOf('clerk.example.com') },
      'https://login.example.com',
    ],
    [{ SVC_IDP_PUBLISHABLE_KEY: keyOf('clerk.runtime.com') }, 'https://clerk.runtime.com'],
    [{}, 'https://clerk.built.com'],
  ])('with %j is %s', (env, issuer) => {
    expect(resolveIdpAddresses(env, built(keyOf('clerk.built.com')))?.issuer).toBe(issuer)
  })

  it('has sign-in pages for a development instance too', () => {
    const env = { SVC_IDP_PUBLISHABLE_KEY: keyOf('happy-fox-1.clerk.accounts.dev', 'test') }
    expect(resolveIdpAddresses(env, undefined)?.signIn).toBe('https://happy-fox-1.accounts.dev/sign-in')
  })

  it('is rejected if the key of the web build is invalid', () => {
    expect(() => resolveIdpAddresses({}, built('clerk.built.com'))).toThrow(
      'CLIENT_IDP_PUBLISHABLE_KEY: must be a publishable',
    )
  })

  it('is unknown without a setting', () => {
    expect(resolveIdpAddresses({}, undefined)).toBeUndefined()
  })
})
