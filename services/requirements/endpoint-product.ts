import { rm } from 'node:fs/promises'
import { systemClock } from '#shared/time/clock.ts'
import { signKey } from '../gateway/auth/keys/key-token.ts'
import { authRequests, type GoodRequest } from '../gateway/testing/good-requests.ts'
import { idpSecretKey, startIdentityProvider } from '../gateway/testing/identity-provider.ts'
import { startFake, buildWebWith } from '../gateway/testing/start.ts'
import type { Asking, EndpointRow } from './endpoint-rows.ts'

/** The secret of keys, cron routes and the door for events alike. */
const secret = 'the secret of the operator'
const key = signKey(
  {
    jti: 'a'.repeat(16),
    sub: 'ci',
    label: 'ci',
    scopes: ['read', 'write', 'agent', 'mcp'],
    iat: 0,
    exp: 4_102_444_799,
  },
  secret,
)

/** What may be done by whoever does not sign in: nothing, reading, everything. */
export const modes = [
  { SVC_IDP_PUBLIC_READ: 'false' },
  { SVC_IDP_PUBLIC_READ: 'true' },
  { SVC_AUTH_PROVIDER: 'none', SVC_API_KEY_SECRET: '' },
] as const

/** How something is asked, and whether with what the row wants for it. */
type Asked = Partial<Asking> & { query?: string }

/** A product with every way of signing in, and the ways to ask its endpoints. */
export interface EndpointProduct extends AsyncDisposable {
  /** Asks an endpoint while variables are set otherwise. */
  ask(row: EndpointRow, asked?: Asked): Promise<Response>
}

export const startEndpointProduct = async (): Promise<EndpointProduct> => {
  await using opening = new AsyncDisposableStack()
  const idp = opening.use(await startIdentityProvider(systemClock))
  const webDirectory = await buildWebWith({ CLIENT_FEATURE_CONVERSATION_DB: 'true' })
  opening.defer(() => rm(webDirectory, { recursive: true }))
  const env = {
    SVC_AUTH_PROVIDER: 'idp',
    IDP_OAUTH_ISSUER: idp.url,
    IDP_API_URL: idp.url,
    IDP_SECRET_KEY: idpSecretKey,
    SVC_API_KEY_SECRET: secret,
    CRON_SECRET: secret,
    SVC_EVENTS_INGEST_TOKEN: secret,
    SVC_DEVICE_LOGIN: 'true',
    ...unlimited,
  }
  const owners = { alerts: {}, report: {}, mcp: {}, ingest: {}, agent: {} }
  const product = opening.use(await startFake({ env, webDirectory, ...owners }))
  const person = async () => ({ cookie: `__session=${await idp.token()}` })

  const post = async ({ url, body }: GoodRequest) => {
    const headers = { 'content-type': 'application/json', origin: product.url, ...(await person()) }
    return (await fetch(product.url + url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const prepared = authRequests(post, secret)

  const ask = async ({ method, path, ask: good }: EndpointRow, asked: Asked = {}): Promise<Response> => {
    const made = good.prepared && asked.body === undefined ? await prepared[`${method} ${path}`]?.() : undefined
    const { url = path, body, bearer = 'key', as, headers } = { ...good, ...made, ...given(asked) }
    const credentials = as === 'person' ? await person() : authorization(bearer)
    const before = { ...product.env }
    Object.assign(product.env, good.env, asked.env)
    try {
      const query = (asked.query ?? '').replace('{secret}', encodeURIComponent(secret))
      return await fetch(product.url + url + query, {
        method,
        headers: { 'content-type': 'application/json', ...credentials, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    } finally {
      for (const name of Object.keys(product.env)) delete product.env[name]
      Object.assign(product.env, before)
    }
  }
  const release = opening.move()
  return { ask, [Symbol.asyncDispose]: async () => release.disposeAsync() }
}

/** Nobody asks too often but who means to. */
const unlimited = Object.fromEntries(
  ['API', 'AGENT', 'MCP', 'INGEST', 'BROWSER_CONN', 'DEVICE_CODE'].map((name) => [
    `RATE_LIMIT_${name}_PER_MIN`,
    '1000',
  ]),
)

const authorization = (bearer: string): Record<string, string> => {
  if (bearer === 'nothing') return {}
  return { authorization: `Bearer ${{ key, secret }[bearer] ?? bearer}` }
}

/** What is said; the rest is as in a good request. */
const given = (asked: Asked): Asked =>
  Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined))
