import { createClock } from '#shared/time/clock.ts'
import type { JWTPayload } from 'jose'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type IdentityProvider, idpSecretKey, startIdentityProvider } from '../../testing/identity-provider.ts'
import { type FakeProduct, startFakeProduct } from '../../testing/fake-product.ts'
import { signInRoutes } from '../../testing/identity-routes.ts'

type Variables = Record<string, string>

let nowMs: number
let idp: IdentityProvider
beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1)
  idp = await startIdentityProvider(createClock(() => nowMs))
})
afterEach(async () => idp[Symbol.asyncDispose]())

const start = async (env: Variables = {}): Promise<FakeProduct> =>
  startFakeProduct({
    env: { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: idp.url, ...env },
    clock: createClock(() => nowMs),
    routes: signInRoutes,
  })
const renewing = () => ({ IDP_SECRET_KEY: idpSecretKey, IDP_API_URL: idp.url })

const send = async ({ url }: FakeProduct, headers: Variables, path = '/api/v1/read') => {
  const response = await fetch(url + path, { headers })
  return { status: response.status, body: await response.json(), cookies: response.headers.getSetCookie() }
}
const bearer = (token: string): Variables => ({ authorization: `Bearer ${token}` })
const cookie = (token: string): Variables => ({ cookie: `theme=dark; __session=${token}` })

describe('a session token', () => {
  it('identifies the user, with the profile claims of the provider', async () => {
    await using product = await start()
    const token = await idp.token({ name: 'Ada', email: 'ada@example.com', picture: 'https://pictures/ada' })
    const known = { kind: 'user', subject: 'user_ada', features: 'all' }
    const profile = { name: 'Ada', email: 'ada@example.com', avatar: 'https://pictures/ada' }
    for (const headers of [bearer(token), cookie(token)]) {
      expect(await send(product, headers)).toMatchObject({ status: 200, body: { ...known, profile } })
    }
    expect(idp.received).toEqual(['GET /.well-known/jwks.json'])
  })

  it.each<[string, JWTPayload]>([
    ['of another issuer', { iss: 'https://clerk.evil.example' }],
    ['that ended eleven seconds ago', { exp: Date.UTC(2026, 0, 1) / 1000 - 11 }],
    ['that begins in eleven seconds', { nbf: Date.UTC(2026, 0, 1) / 1000 + 11 }],
    ['of a session that waits for a second factor', { sts: 'pending' }],
    ['made for another site', { azp: 'https://blog.example.com' }],
    ['made for another audience', { aud: 'https://blog.example.com' }],
    ['made for several audiences, none of them us', { aud: ['blog', 'https://shop.example.com'] }],
    ['without a subject', { sub: '' }],
    ['made for another service, which has no session', { sid: undefined }],
    ['of a subject longer than any', { sub: 'u'.repeat(257) }],
  ])('%s is rejected as a bearer token and ignored as a cookie', async (_what, claims) => {
    await using product = await start({ SVC_IDP_PUBLIC_READ: 'true', SVC_PUBLIC_URL: 'https://watch.example.com' })
    const token = await idp.token(claims)
    expect((await send(product, bearer(token))).status).toBe(401)
  })

  it('may have invalid values in display claims', async () => {
    await using product = await start()
    const token = await idp.token({ name: null, email: 7, picture: { url: 'x' }, azp: null, sts: null })
    expect(await send(product, bearer(token))).toMatchObject({
      status: 200,
      body: { subject: 'user_ada', profile: {} },
    })
  })

  it('is accepted when it was issued for this site', async () => {
    await using product = await start({ SVC_PUBLIC_URL: 'https://watch.example.com/sub' })
    const site = 'https://watch.example.com'
    for (const claims of [{ azp: site }, { aud: site }, { azp: site, aud: ['blog', site] }]) {
      expect((await send(product, bearer(await idp.token(claims)))).status).toBe(200)
    }
  })

  it('is rejected when it has an audience and no public URL is set', async () => {
    await using product = await start()
    expect((await send(product, bearer(await idp.token({ aud: 'https://blog.example.com' })))).status).toBe(401)
  })

  it('is accepted after key rotation, and with a withdrawn key for ten minutes', async () => {
    await using product = await start()
    const old = await idp.token({ exp: nowMs / 1000 + 3_600 })
    expect((await send(product, bearer(old))).status).toBe(200)
    await idp.keys.rotate()
    nowMs += 10_000
    expect((await send(product, bearer(await idp.token()))).status).toBe(200)
    await idp.keys.rotate()
    nowMs += 10 * 60_000
    expect((await send(product, bearer(old))).status).toBe(401)
  })

  it('returns 503 while the provider is unavailable', async () => {
    await using product = await start()
    const token = await idp.token()
    idp.isDown = true
    expect(await send(product, bearer(token))).toMatchObject({ status: 503, body: { error: { type: 'unavailable' } } })
    expect((await send(product, bearer(token), '/api/v1/open')).status).toBe(200)
    idp.isDown = false
    nowMs += 10_000
    expect((await send(product, bearer(await idp.token()))).status).toBe(200)
  })

  it('is never written to the log', async () => {
    await using product = await start(renewing())
    const token = await idp.token()
    await send(product, bearer(`${token}x`))
    await send(product, cookie(`${token}x`))
    expect(product.logged.join('\n')).not.toContain(token.slice(-20))
    expect(product.logged.join('\n')).not.toContain(idpSecretKey)
  })
})

describe('a cookie with an expired token', () => {
  it('is ignored without the secret key', async () => {
    await using product = await start({ SVC_IDP_PUBLIC_READ: 'true' })
    const token = await idp.token()
    nowMs += 120_000
    expect(await send(product, cookie(token))).toMatchObject({ status: 200, body: { kind: 'anonymous' } })
  })

  it('is renewed with the secret key, once for all requests of a page', async () => {
    await using product = await start(renewing())
    const token = await idp.token()
    nowMs += 120_000
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(product, cookie(token))))
    for (const { status, body, cookies } of answers) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ subject: 'user_ada' })
      expect(cookies).toEqual([
        expect.stringMatching(/^__session=eyJ\S+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
      ])
    }
    expect(idp.received.filter((call) => call.startsWith('POST'))).toEqual(['POST /v1/sessions/sess_1/tokens'])
  })

  it.each<[string, (token: string) => string | Promise<string>]>([
    ['of a session that has ended', () => idp.token({ sid: 'sess_gone' })],
    ['of no session', () => idp.token({ sid: undefined })],
    ['signed with another key', (token) => `${token.slice(0, -4)}AAAA`],
    ['eight days old', () => idp.token({ exp: nowMs / 1000 - 8 * 86_400 })],
    ['of another issuer', () => idp.token({ iss: 'https://clerk.evil.example' })],
  ])('%s is not renewed', async (_what, make) => {
    await using product = await start(renewing())
    const token = await make(await idp.token())
    nowMs += 120_000
    const { status, cookies } = await send(product, cookie(token))
    expect([status, cookies]).toEqual([401, []])
  })

  it('is not renewed when sent as a bearer token', async () => {
    await using product = await start(renewing())
    const token = await idp.token()
    nowMs += 120_000
    expect((await send(product, bearer(token))).status).toBe(401)
  })

  it('is treated as anonymous while the provider is unavailable', async () => {
    await using product = await start({ ...renewing(), SVC_IDP_PUBLIC_READ: 'true' })
    const token = await idp.token()
    await send(product, cookie(token))
    nowMs += 120_000
    idp.isDown = true
    expect(await send(product, cookie(token))).toMatchObject({ status: 200, body: { kind: 'anonymous' } })
  })
})

describe('an identity provider that is not configured', () => {
  it('signs no user in, with a warning at the start', async () => {
    await using product = await start({ IDP_OAUTH_ISSUER: '' })
    expect((await send(product, bearer(await idp.token()))).status).toBe(401)
    expect((await send(product, {}, '/api/v1/auth/sign-in')).status).toBe(503)
    expect(product.logged.join('\n')).toContain('SVC_IDP_PUBLISHABLE_KEY is not set')
  })
})
