import { describe, expect, it } from 'vitest'
import type { BuildInfo } from '#proto/http/build.ts'
import { type AnonymousAccess, resolveAnonymousAccess, resolveAuthProvider } from './provider.ts'

type Variables = Record<string, string>

const builtWith = (client: Variables): BuildInfo => ({
  version: '1.0.0',
  gitSha: null,
  gitRef: null,
  builtAt: null,
  client,
})

describe('the provider', () => {
  it.each<[string, Variables, Variables | undefined, string]>([
    ['is none by default', {}, {}, 'none'],
    ['is none without a build', {}, undefined, 'none'],
    ['is what the environment says', { SVC_AUTH_PROVIDER: 'proxy' }, {}, 'proxy'],
    ['is read in any case', { SVC_AUTH_PROVIDER: ' Trusted ' }, {}, 'trusted'],
    [
      'of the environment wins over the build',
      { SVC_AUTH_PROVIDER: 'proxy' },
      { CLIENT_AUTH_PROVIDER: 'idp' },
      'proxy',
    ],
    ['of the environment may be none', { SVC_AUTH_PROVIDER: 'none' }, { CLIENT_AUTH_PROVIDER: 'idp' }, 'none'],
    ['of the environment wins over its mode', { SVC_AUTH_PROVIDER: 'none', SVC_CLOUD_MODE: 'true' }, {}, 'none'],
    [
      'of the build wins over a cloud mode',
      { SVC_CLOUD_MODE: 'cloud' },
      { CLIENT_AUTH_PROVIDER: 'trusted' },
      'trusted',
    ],
    [
      'of the build is not lowered by a mode that is not cloud',
      { SVC_CLOUD_MODE: 'false', SVC_DEPLOYMENT_MODE: 'self-hosted' },
      { CLIENT_AUTH_PROVIDER: 'idp' },
      'idp',
    ],
    ['is idp in cloud mode', { SVC_CLOUD_MODE: 'cloud' }, {}, 'idp'],
    ['is idp in the deployment mode cloud', { SVC_DEPLOYMENT_MODE: 'cloud' }, {}, 'idp'],
    ['is idp when the build was for the cloud', {}, { CLIENT_CLOUD_MODE: 'true' }, 'idp'],
    ['stays idp when only the build was for the cloud', { SVC_CLOUD_MODE: 'false' }, { CLIENT_CLOUD_MODE: '1' }, 'idp'],
    ['is none for empty text', { SVC_AUTH_PROVIDER: '' }, { CLIENT_AUTH_PROVIDER: '' }, 'none'],
  ])('%s', (_sentence, env, client, provider) => {
    expect(resolveAuthProvider(env, client && builtWith(client))).toBe(provider)
  })

  it('is rejected if its name is unknown', () => {
    expect(() => resolveAuthProvider({ SVC_AUTH_PROVIDER: 'oauth' }, undefined)).toThrow(
      'SVC_AUTH_PROVIDER: must be one of none, idp, proxy, trusted',
    )
  })
})

describe('an unknown provider of the web build', () => {
  it('is rejected, because it was meant to restrict access', () => {
    expect(() => resolveAuthProvider({}, builtWith({ CLIENT_AUTH_PROVIDER: 'oauth' }))).toThrow(
      'CLIENT_AUTH_PROVIDER: must be one of none, idp, proxy, trusted',
    )
  })
})

describe('anonymous callers', () => {
  it.each<[AnonymousAccess, Variables, Variables]>([
    ['write', {}, {}],
    ['nothing', { SVC_API_KEY_SECRET: 's' }, {}],
    ['nothing', { SVC_AUTH_PROVIDER: 'idp' }, {}],
    ['read', { SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLIC_READ: 'yes' }, {}],
    ['read', { SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLIC_READ: 'on', SVC_API_KEY_SECRET: 's' }, {}],
    ['read', { SVC_CLOUD_MODE: 'true' }, {}],
    ['nothing', { SVC_CLOUD_MODE: 'true', SVC_IDP_PUBLIC_READ: '0' }, {}],
    ['read', { SVC_CLOUD_MODE: 'true', SVC_IDP_PUBLIC_READ: 'perhaps' }, {}],
    ['nothing', {}, { CLIENT_CLOUD_MODE: 'true' }],
    ['nothing', { SVC_AUTH_PROVIDER: 'proxy' }, {}],
    ['nothing', { SVC_AUTH_PROVIDER: 'trusted', SVC_IDP_PUBLIC_READ: 'true' }, {}],
  ])('have the access: %s, with %j and a build of %j', (right, env, client) => {
    expect(resolveAnonymousAccess(env, builtWith(client))).toBe(right)
  })
})
