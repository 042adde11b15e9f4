import { createClock } from '#shared/time/clock.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { signApiKey } from '../auth/keys/key-token.ts'
import { type IdentityProvider, idpSecretKey, startIdentityProvider } from '../testing/identity-provider.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const introspection = 'POST /v1/oauth_applications/access_tokens/verify'
const here = 'https://watch.example.com/clickhouse'
const token = 'oat_of_ada'

let nowMs: number
let idp: IdentityProvider
let product: FakeProduct
const start = async (env: Record<string, string | undefined> = {}) => {
  const clock = createClock(() => nowMs)
  const provider = { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: idp.url, IDP_API_URL: idp.url, SVC_PUBLIC_URL: here }
  const merged = { ...provider, IDP_SECRET_KEY: idpSecretKey, RATE_LIMIT_MCP_PER_MIN: '1000', ...env }
  const set = Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined)
  product = await startFakeProduct({ mcp: {}, env: Object.fromEntries(set), clock })
}
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1)
  idp = await startIdentityProvider(createClock(() => nowMs))
})
afterEach(async () => {
  await product[Symbol.asyncDispose]()
  await idp[Symbol.asyncDispose]()
})

const send = (bearer: string) =>
  fetch(`${product.url}/api/mcp`, {
    method: 'POST',
    body: '{"id":1}',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
  })
const verifications = () => idp.received.filter((call) => call === introspection).length
const message = async (response: Response) => ErrorResponse.parse(await response.json()).error.message

describe('an OAuth token of the identity provider', () => {
  it('identifies its subject and is verified once a minute', async () => {
    await start()
    idp.accessTokens.set(token, {})
    const [first, ...others] = await Promise.all([send(token), send(token), send(token)])
    expect(await first?.json()).toMatchObject({ result: { subject: 'user_ada' } })
    expect([first, ...others].map((response) => response?.status)).toEqual([200, 200, 200])
    expect(verifications()).toBe(1)
    idp.accessTokens.set(token, { revoked: true })
    nowMs += 60_000
    expect((await send(token)).status).toBe(200)
    nowMs += 1
    expect((await send(token)).status).toBe(401)
    expect(verifications()).toBe(2)
  })

  it.each([
    ['seconds', 1],
    ['milliseconds', 1_000],
  ])('expires at its own time in %s, even if cached', async (_unit, factor) => {
    await start()
    idp.accessTokens.set(token, { expiration: (nowMs / 1_000 + 10) * factor })
    expect((await send(token)).status).toBe(200)
    nowMs += 10_000
    expect((await send(token)).status).toBe(401)
  })

  it.each<[string, Record<string, unknown>, number]>([
    ['revoked', { revoked: true }, 401],
    ['expired', { expired: true }, 401],
    ['issued for another service', { aud: ['https://files.example.com'] }, 401],
    ['issued for another part of this site', { aud: `${here}/api/mcpx` }, 401],
    ['issued for here', { aud: `${here}/api/mcp` }, 200],
    ['issued for here and elsewhere', { aud: ['https://files.example.com', here] }, 200],
    ['without a subject', { subject: '' }, 503],
  ])('is accepted or rejected when %s', async (_what, introspected, status) => {
    await start()
    idp.accessTokens.set(token, introspected)
    expect((await send(token)).status).toBe(status)
  })

  it('is rejected when unknown, and the rejection is cached briefly', async () => {
    await start()
    for (const _ of [1, 2]) {
      const response = await send('oat_made_up')
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).toBe(
        `Bearer realm="watchhouse", resource_metadata="${here}/.well-known/oauth-protected-resource/api/mcp", error="invalid_token"`,
      )
    }
    expect(verifications()).toBe(1)
    nowMs += 5_001
    idp.accessTokens.set('oat_made_up', {})
    expect((await send('oat_made_up')).status).toBe(200)
  })

  it('returns 503 while the provider is unreachable', async () => {
    await start()
    idp.accessTokens.set(token, {})
    idp.isDown = true
    const response = await send(token)
    expect([response.status, await message(response)]).toEqual([503, expect.stringContaining('unreachable')])
    expect(product.logged.join()).not.toContain(token)
    idp.isDown = false
    expect((await send(token)).status).toBe(200)
  })

  it('is still accepted from the cache when the provider becomes unreachable', async () => {
    await start()
    idp.accessTokens.set(token, {})
    expect((await send(token)).status).toBe(200)
    idp.isDown = true
    expect((await send(token)).status).toBe(200)
  })

  it('is rejected without the secret key, with a warning at start, and returns 503 with a wrong key', async () => {
    await start({ IDP_SECRET_KEY: undefined })
    idp.accessTokens.set(token, {})
    const rejected = await send(token)
    expect([rejected.status, await message(rejected)]).toEqual([401, 'invalid access token'])
    expect(rejected.headers.get('www-authenticate')).toContain('error="invalid_token"')
    expect([verifications(), product.logged.join().includes('IDP_SECRET_KEY is not set')]).toEqual([0, true])
    product.env.IDP_SECRET_KEY = 'sk_test_wrong'
    expect((await send(token)).status).toBe(503)
  })

  it('is accepted alongside API keys, which are never sent to the provider', async () => {
    const secret = 'the secret of the keys'
    await start({ SVC_API_KEY_SECRET: secret })
    idp.accessTokens.set(token, {})
    const claims = { jti: 'a'.repeat(16), sub: 'bob', label: 'laptop', scopes: ['mcp'], iat: 0, exp: 4_102_444_799 }
    expect((await send(signApiKey(claims, secret))).status).toBe(200)
    expect((await send('svc_made_up')).status).toBe(401)
    expect(verifications()).toBe(0)
    expect((await send(token)).status).toBe(200)
  })

  it('is rejected when it is a browser session token', async () => {
    await start()
    expect((await send(await idp.token())).status).toBe(401)
  })
})
