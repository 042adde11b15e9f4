import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '#shared/time/clock.ts'
import {
  type AccessGateway,
  startAccessGateway,
  type IdentityProvider,
  startIdentityProvider,
} from '../testing/identity-provider.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { signInRoutes } from '../testing/identity-routes.ts'
import { signApiKey } from './keys/key-token.ts'

type Variables = Record<string, string>

let idp: IdentityProvider
let edge: AccessGateway
beforeAll(async () => {
  idp = await startIdentityProvider(systemClock)
  edge = await startAccessGateway(systemClock)
})
afterAll(async () => {
  await idp[Symbol.asyncDispose]()
  await edge[Symbol.asyncDispose]()
})

const secret = 'the secret of the keys'
const key = signApiKey(
  { jti: 'a'.repeat(16), sub: 'ci', label: 'ci', scopes: ['write'], iat: 0, exp: 4_102_444_799 },
  secret,
)
const keys = { SVC_API_KEY_SECRET: secret }
const bearer = (token: string): Variables => ({ authorization: `Bearer ${token}` })
const open = '200 200 200'
const readOnly = '200 200 401'
const shut = '200 401 401'

/** Returns the response statuses of an open, a read and a write route. */
const statuses = async (env: Variables, headers: Variables): Promise<string> => {
  await using product = await startFakeProduct({ env, routes: signInRoutes })
  const json = { ...headers, 'content-type': 'application/json' }
  const requests = [
    fetch(`${product.url}/api/v1/open`, { headers }),
    fetch(`${product.url}/api/v1/read`, { headers }),
    fetch(`${product.url}/api/v1/write`, { method: 'POST', headers: json, body: '{}' }),
  ]
  return (await Promise.all(requests)).map(({ status }) => status).join(' ')
}

describe('access by authentication mode', () => {
  const idpEnv = () => ({ SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: idp.url })
  const publicRead = () => ({ ...idpEnv(), SVC_IDP_PUBLIC_READ: 'true' })
  const cloud = () => ({ SVC_CLOUD_MODE: 'cloud', IDP_OAUTH_ISSUER: idp.url })
  const edgeEnv = () => ({
    SVC_AUTH_PROVIDER: 'proxy',
    SVC_EDGE_ACCESS_TEAM_DOMAIN: edge.url,
    SVC_EDGE_ACCESS_AUD: 'watchhouse',
  })
  const proxyEnv = () => ({ SVC_AUTH_PROVIDER: 'proxy', SVC_PROXY_AUTH_SECRET: 'shared' })
  const trustedEnv = () => ({ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: 'shared' })
  const nothing = async () => ({})
  const withKey = async () => bearer(key)
  const session = async () => bearer(await idp.token())
  const cookie = async () => ({ cookie: `__session=${await idp.token()}` })

  it.each<[string, string, string, () => Variables, () => Promise<Variables>]>([
    ['without a provider and without keys', 'anybody', open, () => ({}), nothing],
    ['without a provider and without keys', 'a key of elsewhere', open, () => ({}), withKey],
    ['without a provider and without keys', 'any bearer', open, () => ({}), async () => bearer('x')],
    ['with a secret of keys', 'a stranger', shut, () => keys, nothing],
    ['with a secret of keys', 'a key', open, () => keys, withKey],
    ['with a secret of keys', 'a key as x-api-key', open, () => keys, async () => ({ 'x-api-key': key })],
    ['with a secret of keys', 'a forged key', shut, () => keys, async () => bearer(`${key.slice(0, -3)}abc`)],
    ['with a secret of keys', 'a bearer that is no key', shut, () => keys, async () => bearer('x')],
    ['with an identity provider and public read', 'a stranger', readOnly, publicRead, nothing],
    ['with an identity provider and public read', 'a session', open, publicRead, session],
    ['with an identity provider and public read', 'a cookie', open, publicRead, cookie],
    ['with an identity provider, public read and keys', 'a key', open, () => ({ ...publicRead(), ...keys }), withKey],
    ['with an identity provider and public read', 'a key while keys are off', shut, publicRead, withKey],
    ['with an identity provider and public read', 'a made-up bearer', shut, publicRead, async () => bearer('x')],
    [
      'with an identity provider and public read',
      'a made-up cookie',
      readOnly,
      publicRead,
      async () => ({ cookie: '__session=x' }),
    ],
    ['in cloud mode', 'a stranger', readOnly, cloud, nothing],
    ['in cloud mode', 'a session', open, cloud, session],
    ['with an identity provider', 'a stranger', shut, idpEnv, nothing],
    ['with an identity provider', 'a session', open, idpEnv, session],
    ['with an identity provider and keys', 'a key', open, () => ({ ...idpEnv(), ...keys }), withKey],
    ['behind an access gateway', 'a stranger', shut, edgeEnv, nothing],
    [
      'behind an access gateway',
      'its token',
      open,
      edgeEnv,
      async () => ({ 'edge-access-jwt-assertion': await edge.token('watchhouse') }),
    ],
    ['behind a proxy', 'a stranger who names himself', shut, proxyEnv, async () => ({ 'x-forwarded-user': 'ada' })],
    [
      'behind a proxy',
      'whom it names',
      open,
      proxyEnv,
      async () => ({ 'x-forwarded-user': 'ada', 'x-svc-proxy-secret': 'shared' }),
    ],
    ['behind a proxy, with keys', 'a key', open, () => ({ ...proxyEnv(), ...keys }), withKey],
    ['behind a proxy', 'a bearer of the proxy', shut, proxyEnv, async () => bearer('x')],
    ['behind a trusted proxy', 'a stranger', shut, trustedEnv, async () => ({ 'x-forwarded-user': 'ada' })],
    [
      'behind a trusted proxy',
      'whom it names',
      open,
      trustedEnv,
      async () => ({ 'x-forwarded-user': 'ada', 'x-svc-proxy-secret': 'shared' }),
    ],
    ['behind a trusted proxy, with keys', 'a key', open, () => ({ ...trustedEnv(), ...keys }), withKey],
  ])('%s, %s gets %s', async (_mode, _who, expected, env, headers) => {
    expect(await statuses(env(), await headers())).toBe(expected)
  })
})
