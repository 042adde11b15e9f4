import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '#shared/time/clock.ts'
import {
  type AccessGateway,
  startAccessGateway,
  type IdentityProvider,
  idpSecretKey,
  startIdentityProvider,
} from '../testing/identity-provider.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { identityRoutes } from '../testing/identity-routes.ts'
import { routes } from '../routes.ts'
import { authSettings } from './config.ts'
import { signApiKey } from './keys/key-token.ts'

type Variables = Record<string, string>

/** A variable, and a request whose response depends on it. */
interface Row {
  name: keyof typeof authSettings
  fallback: string
  value: () => string
  /** Other variables that the case requires. */
  beside?: () => Variables
  path?: string
  headers?: () => Promise<Variables>
  without: object
  /** Expected response if the variable is set. */
  given: object
}

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

const key = signApiKey(
  { jti: 'a'.repeat(16), sub: 'ci', label: 'ci', scopes: ['read'], iat: 0, exp: 4_102_444_799 },
  'secret',
)
const publishable = 'pk_live_Y2xlcmsuZXhhbXBsZS5jb20k'
const signIn = '/api/v1/auth/sign-in'
const metadata = '/.well-known/oauth-protected-resource'
const bearer = (token: string): Variables => ({ authorization: `Bearer ${token}` })
/** Returns a cookie with a session token that expired two minutes ago. */
const endedSession = async () => {
  const exp = Math.floor(Date.now() / 1000) - 120
  return { cookie: `__session=${await idp.token({ iat: exp - 60, nbf: exp - 60, exp })}` }
}
const byIdp = () => ({ SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: idp.url })
const accessToken = async () => ({ 'edge-access-jwt-assertion': await edge.token('watchhouse') })
const named = { 'x-forwarded-user': 'ada', 'x-svc-proxy-secret': 'shared', 'x-name': 'grace' }
/** Returns headers with the secret in `X-Name`. */
const byOtherSecret = async () => ({ 'x-forwarded-user': 'ada', 'x-name': 'shared' })
const byName = async () => named
const proxied = () => ({ SVC_AUTH_PROVIDER: 'proxy', SVC_PROXY_AUTH_SECRET: 'shared' })
const trusted = () => ({ SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_AUTH_SECRET: 'shared' })
const ada = { status: 200, body: { subject: 'ada' } }
const grace = { status: 200, body: { subject: 'grace' } }
const stranger = { status: 401 }
const refused = /cannot start|is required/

/** Returns a row for a header of the trusted provider that is renamed to `X-Name`. */
const renamed = (name: Row['name'], fallback: string, given: object): Row => ({
  name,
  fallback,
  value: () => 'X-Name',
  beside: trusted,
  headers: byName,
  without: ada,
  given,
})

const rows: readonly Row[] = [
  {
    name: 'SVC_AUTH_PROVIDER',
    fallback: 'none; idp in cloud mode',
    value: () => 'idp',
    without: { status: 200 },
    given: stranger,
  },
  {
    name: 'SVC_API_KEY_SECRET',
    fallback: 'none',
    value: () => 'secret',
    headers: async () => bearer(key),
    without: { body: { kind: 'anonymous' } },
    given: { body: { kind: 'key', subject: 'ci' } },
  },
  {
    name: 'SVC_IDP_PUBLISHABLE_KEY',
    fallback: 'none',
    value: () => publishable,
    beside: () => ({ SVC_AUTH_PROVIDER: 'idp' }),
    path: signIn,
    without: { status: 503 },
    given: { status: 302, location: expect.stringContaining('https://accounts.example.com/sign-in?') },
  },
  {
    name: 'IDP_OAUTH_ISSUER',
    fallback: 'none',
    value: () => idp.url,
    beside: () => ({ SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLISHABLE_KEY: publishable }),
    path: metadata,
    without: { body: { authorization_servers: ['https://clerk.example.com'] } },
    given: { body: { authorization_servers: [expect.stringContaining('127.0.0.1')] } },
  },
  {
    name: 'IDP_PUBLISHABLE_KEY',
    fallback: 'none',
    value: () => publishable,
    beside: () => ({ SVC_AUTH_PROVIDER: 'idp' }),
    path: metadata,
    without: { status: 404 },
    given: { body: { authorization_servers: ['https://clerk.example.com'] } },
  },
  {
    name: 'IDP_SECRET_KEY',
    fallback: 'none',
    value: () => idpSecretKey,
    beside: () => ({ ...byIdp(), IDP_API_URL: idp.url }),
    headers: endedSession,
    without: stranger,
    given: { status: 200, body: { subject: 'user_ada' } },
  },
  {
    name: 'IDP_API_URL',
    fallback: 'https://api.clerk.com',
    value: () => idp.url,
    // The default URL is the API of a real provider, which tests must not call.
    beside: () => ({ ...byIdp(), IDP_SECRET_KEY: idpSecretKey, IDP_API_URL: 'http://127.0.0.1:9' }),
    headers: endedSession,
    without: stranger,
    given: { status: 200 },
  },
  {
    name: 'SVC_IDP_PUBLIC_READ',
    fallback: 'unset',
    value: () => 'true',
    beside: byIdp,
    without: stranger,
    given: { status: 200 },
  },
  {
    name: 'SVC_EDGE_ACCESS_TEAM_DOMAIN',
    fallback: 'none',
    value: () => edge.url,
    beside: () => ({ SVC_AUTH_PROVIDER: 'proxy', SVC_EDGE_ACCESS_AUD: 'watchhouse' }),
    headers: accessToken,
    without: { refused },
    given: { status: 200 },
  },
  {
    name: 'SVC_EDGE_ACCESS_AUD',
    fallback: 'none',
    value: () => 'watchhouse',
    beside: () => ({ SVC_AUTH_PROVIDER: 'proxy', SVC_EDGE_ACCESS_TEAM_DOMAIN: edge.url }),
    headers: accessToken,
    without: { refused },
    given: { status: 200 },
  },
  {
    name: 'SVC_PROXY_AUTH_SECRET',
    fallback: 'none',
    value: () => 'shared',
    beside: () => ({ SVC_AUTH_PROVIDER: 'proxy' }),
    headers: byName,
    without: stranger,
    given: ada,
  },
  {
    name: 'SVC_PROXY_SHARED_SECRET_HEADER',
    fallback: 'X-Svc-Proxy-Secret',
    value: () => 'X-Name',
    beside: proxied,
    headers: byOtherSecret,
    without: stranger,
    given: ada,
  },
  {
    name: 'SVC_PROXY_AUTH_HEADER',
    fallback: 'X-Forwarded-User',
    value: () => 'X-Name',
    beside: proxied,
    headers: byName,
    without: ada,
    given: grace,
  },
  {
    name: 'SVC_TRUSTED_AUTH_SECRET',
    fallback: 'none',
    value: () => 'shared',
    beside: () => ({ SVC_AUTH_PROVIDER: 'trusted' }),
    headers: byName,
    without: { refused },
    given: ada,
  },
  {
    name: 'SVC_TRUSTED_ALLOW_INSECURE',
    fallback: 'false',
    value: () => 'true',
    beside: () => ({ SVC_AUTH_PROVIDER: 'trusted' }),
    headers: async () => ({ 'x-forwarded-user': 'ada' }),
    without: { refused },
    given: ada,
  },
  {
    ...renamed('SVC_TRUSTED_SHARED_SECRET_HEADER', 'X-Svc-Proxy-Secret', ada),
    headers: byOtherSecret,
    without: stranger,
  },
  renamed('SVC_TRUSTED_USER_HEADER', 'X-Forwarded-User', grace),
  renamed('SVC_TRUSTED_EMAIL_HEADER', 'X-Forwarded-Email', { body: { profile: { email: 'grace' } } }),
  renamed('SVC_TRUSTED_NAME_HEADER', 'X-Forwarded-Preferred-Username', { body: { profile: { name: 'grace' } } }),
  {
    ...renamed('SVC_TRUSTED_AVATAR_HEADER', 'X-Forwarded-Avatar', { body: { profile: { avatar: 'https://e.com/g' } } }),
    headers: async () => ({ ...named, 'x-name': 'https://e.com/g' }),
  },
  renamed('SVC_TRUSTED_GROUPS_HEADER', 'X-Forwarded-Groups', { body: { profile: { groups: ['grace'] } } }),
  renamed('SVC_TRUSTED_ROLE_HEADER', 'X-Forwarded-Role', { body: { profile: { groups: ['grace'] } } }),
  {
    ...renamed('SVC_TRUSTED_CUSTOM_HEADERS', 'none', { body: { profile: { fields: { rank: 'grace' } } } }),
    value: () => 'rank:X-Name',
  },
  { ...renamed('SVC_TRUSTED_ALLOWED_GROUPS', 'none', { status: 403 }), value: () => 'ops' },
]

const send = async ({ path = '/api/v1/read', headers }: Row, env: Variables) => {
  const starting = startFakeProduct({ env, routes: [...routes, ...identityRoutes] })
  const failed = await starting.then(
    () => undefined,
    (error: unknown) => String(error),
  )
  if (failed !== undefined) return { refused: failed }
  await using product = await starting
  const response = await fetch(product.url + path, { headers: (await headers?.()) ?? {}, redirect: 'manual' })
  const text = await response.text()
  const location = response.headers.get('location')
  return { status: response.status, location, body: text === '' ? undefined : JSON.parse(text) }
}

describe('authentication variables', () => {
  it('are all in this table', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(authSettings).toSorted())
  })

  it.each(rows.map((row) => [row.name, row] as const))(
    '%s has its documented effect, and its default otherwise',
    async (name, row) => {
      expect(authSettings[name].fallback).toBe(row.fallback)
      const beside = row.beside?.() ?? {}
      const [without, given] = [await send(row, beside), await send(row, { ...beside, [name]: row.value() })]
      const matching = ({ refused: sentence, ...rest }: { refused?: RegExp }) =>
        sentence === undefined ? rest : { refused: expect.stringMatching(sentence) }
      expect(without).toMatchObject(matching(row.without))
      expect(given).toMatchObject(matching(row.given))
    },
  )
})
