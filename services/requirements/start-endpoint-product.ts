import { rm } from 'node:fs/promises'
import { systemClock } from '#shared/time/clock.ts'
import { signApiKey } from '../gateway/auth/keys/key-token.ts'
import { createAuthRequests, type ValidRequest } from '../gateway/testing/valid-requests.ts'
import { idpSecretKey, startIdentityProvider } from '../gateway/testing/identity-provider.ts'
import { startFakeProduct, createWebBuild } from '../gateway/testing/fake-product.ts'
import type { RequestSpec, EndpointRow } from './endpoint-rows.ts'

/** The common secret of API keys, cron routes and event ingestion. */
const secret = 'the secret of the operator'
const key = signApiKey(
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

/** Settings under which unauthenticated callers have no access, read access and full access, in this order. */
export const accessModes = [
  { SVC_IDP_PUBLIC_READ: 'false' },
  { SVC_IDP_PUBLIC_READ: 'true' },
  { SVC_AUTH_PROVIDER: 'none', SVC_API_KEY_SECRET: '' },
] as const

/** Fields that replace those of `row.request`. `query` is appended to the path. */
type RequestOverrides = Partial<RequestSpec> & { query?: string }

/** A running gateway with all authentication methods enabled, and a client for its endpoints. */
export interface EndpointTestGateway extends AsyncDisposable {
  /** Sends the request of a row. The variables of the row are set until the response arrives. */
  send(row: EndpointRow, overrides?: RequestOverrides): Promise<Response>
}

export const startEndpointTestGateway = async (): Promise<EndpointTestGateway> => {
  await using opening = new AsyncDisposableStack()
  const idp = opening.use(await startIdentityProvider(systemClock))
  const webDirectory = await createWebBuild({ CLIENT_FEATURE_CONVERSATION_DB: 'true' })
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
  const product = opening.use(await startFakeProduct({ env, webDirectory, ...owners }))
  const userHeaders = async () => ({ cookie: `__session=${await idp.token()}` })

  const post = async ({ url, body }: ValidRequest) => {
    const headers = { 'content-type': 'application/json', origin: product.url, ...(await userHeaders()) }
    return (await fetch(product.url + url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const prepared = createAuthRequests(post, secret)

  const send = async ({ method, path, request }: EndpointRow, overrides: RequestOverrides = {}): Promise<Response> => {
    const prepares = request.prepared && overrides.body === undefined
    const made = prepares ? await prepared[`${method} ${path}`]?.() : undefined
    const { url = path, body, bearer = 'key', as, headers } = { ...request, ...made, ...defined(overrides) }
    const credentials = as === 'user' ? await userHeaders() : authorization(bearer)
    const before = { ...product.env }
    Object.assign(product.env, request.env, overrides.env)
    try {
      const query = (overrides.query ?? '').replace('{secret}', encodeURIComponent(secret))
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
  return { send, [Symbol.asyncDispose]: async () => release.disposeAsync() }
}

/** Variables with high rate limits, so that only tests of rate limits reach them. */
const unlimited = Object.fromEntries(
  ['API', 'AGENT', 'MCP', 'INGEST', 'BROWSER_CONN', 'DEVICE_CODE'].map((name) => [
    `RATE_LIMIT_${name}_PER_MIN`,
    '1000',
  ]),
)

const authorization = (bearer: string): Record<string, string> => {
  if (bearer === 'none') return {}
  return { authorization: `Bearer ${{ key, secret }[bearer] ?? bearer}` }
}

/** Returns the overrides that are not undefined. */
const defined = (overrides: RequestOverrides): RequestOverrides =>
  Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
