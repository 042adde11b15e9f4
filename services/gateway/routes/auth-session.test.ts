import { createClock } from '#shared/time/clock.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { signApiKey } from '../auth/keys/key-token.ts'
import { type IdentityProvider, idpSecretKey, startIdentityProvider } from '../testing/identity-provider.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { signInRoutes } from '../testing/identity-routes.ts'

type Variables = Record<string, string>

const secret = 'the secret of the keys'
const keyOf = (exp: number, signedBy = secret) =>
  signApiKey({ jti: 'a'.repeat(16), sub: 'ada', label: 'laptop', scopes: ['write'], iat: 0, exp }, signedBy)

let nowMs: number
beforeEach(() => {
  nowMs = Date.UTC(2026, 0, 1)
})
const start = async (env: Variables): Promise<FakeProduct> =>
  startFakeProduct({ env, clock: createClock(() => nowMs), routes: signInRoutes })

/** Opens a minimal browser: it stores and sends cookies and follows redirects one by one. */
const openBrowser = (origin: string) => {
  const jar = new Map<string, string>()
  const visit = async (path: string, init: { method?: string; body?: unknown; headers?: Variables } = {}) => {
    const { method = 'GET', body, headers = {} } = init
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const json = body === undefined ? {} : { 'content-type': 'application/json', body: JSON.stringify(body) }
    const response = await fetch(new URL(path, origin), {
      method,
      redirect: 'manual',
      headers: { cookie, ...('content-type' in json && { 'content-type': json['content-type'] }), ...headers },
      ...('body' in json && { body: json.body }),
    })
    const lines = response.headers.getSetCookie()
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/; Max-Age=0;/.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    const text = await response.text()
    const answer: unknown = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, body: answer, lines, location: response.headers.get('location') }
  }
  return { jar, visit }
}

describe('a user with an API key', () => {
  const keys = { SVC_API_KEY_SECRET: secret }
  const path = '/api/v1/auth/session'

  it('signs in, reads, writes and signs out', async () => {
    await using product = await start(keys)
    const { visit } = openBrowser(product.url)
    expect((await visit('/api/v1/read')).status).toBe(401)
    const key = keyOf(nowMs / 1000 + 3_600)
    const { status, body, lines } = await visit(path, { method: 'POST', body: { key } })
    expect([status, lines[0]]).toEqual([200, `watchhouse_key=${key}; Max-Age=3600; Path=/; HttpOnly; SameSite=Lax`])
    expect(body).toMatchObject({ data: { kind: 'key', subject: 'ada', may: { read: true, write: true } } })
    expect(await visit('/api/v1/read')).toMatchObject({ status: 200, body: { subject: 'ada' } })
    const write = { method: 'POST', body: {} }
    expect((await visit('/api/v1/write', write)).status).toBe(200)
    expect(await visit(path, { method: 'DELETE' })).toMatchObject({ status: 200, body: { data: { signedOut: true } } })
    expect((await visit('/api/v1/read')).status).toBe(401)
  })

  it.each<[number, string, unknown]>([
    [401, 'is forged', { key: keyOf(4_102_444_799, 'another secret') }],
    [401, 'has expired', { key: keyOf(1) }],
    [401, 'is no key', { key: 'open sesame' }],
    [400, 'is empty', { key: '' }],
    [400, 'is too long', { key: 'a'.repeat(4_097) }],
    [400, 'is no text', { key: 1 }],
    [400, 'is missing', {}],
    [400, 'has a neighbour', { key: keyOf(4_102_444_799), remember: true }],
  ])('gets %i and no cookie when the key %s', async (status, _what, body) => {
    await using product = await start(keys)
    const answered = await openBrowser(product.url).visit(path, { method: 'POST', body })
    expect([answered.status, answered.lines]).toEqual([status, []])
    if (status === 400) expect(JSON.stringify(answered.body)).toMatch(/"parameter":"(key|remember)"/)
  })

  it('cannot sign in while API keys are disabled', async () => {
    await using product = await start({})
    const { status } = await openBrowser(product.url).visit(path, {
      method: 'POST',
      body: { key: keyOf(4_102_444_799) },
    })
    expect(status).toBe(404)
  })

  it('is signed out when the key expires or its secret is removed', async () => {
    await using product = await start(keys)
    const { jar, visit } = openBrowser(product.url)
    jar.set('watchhouse_key', keyOf(nowMs / 1000 + 60))
    expect((await visit('/api/v1/read')).status).toBe(200)
    product.env.SVC_API_KEY_SECRET = 'a new secret'
    product.env.SVC_API_KEY_SECRET_PREVIOUS = secret
    expect((await visit('/api/v1/read')).status).toBe(200)
    product.env.SVC_API_KEY_SECRET_PREVIOUS = ''
    expect((await visit('/api/v1/read')).status).toBe(401)
    product.env.SVC_API_KEY_SECRET = secret
    nowMs += 60_000
    expect((await visit('/api/v1/read')).status).toBe(401)
  })

  it.each([
    [{ origin: 'https://watch.example.com' }, {}],
    [{ 'x-forwarded-proto': 'https' }, {}],
    [{}, { SVC_PUBLIC_URL: 'https://watch.example.com' }],
  ])('gets a Secure cookie only over HTTPS: %j, %j', async (headers, env) => {
    await using product = await start({ ...keys, ...env, SVC_PUBLIC_URL: 'https://watch.example.com' })
    const body = { key: keyOf(4_102_444_799) }
    const { lines } = await openBrowser(product.url).visit(path, { method: 'POST', body, headers })
    expect(lines[0]).toContain('; Secure;')
  })

  it.each<[number, Variables]>([
    [200, { 'sec-fetch-site': 'same-origin' }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'same-site' }],
    [403, { origin: 'https://evil.example' }],
  ])('gets %i for writes, sign-in and sign-out from a page with %j', async (status, headers) => {
    await using product = await start(keys)
    const key = keyOf(4_102_444_799)
    const { jar, visit } = openBrowser(product.url)
    expect((await visit(path, { method: 'POST', body: { key }, headers })).status).toBe(status)
    jar.set('watchhouse_key', key)
    expect((await visit('/api/v1/write', { method: 'POST', body: {}, headers })).status).toBe(status)
    expect((await visit('/api/v1/read', { headers })).status).toBe(200)
    expect((await visit(path, { method: 'DELETE', headers })).status).toBe(status)
  })

  it('may write from every origin with the key in a header', async () => {
    await using product = await start(keys)
    const headers = { origin: 'https://evil.example', authorization: `Bearer ${keyOf(4_102_444_799)}` }
    const { status } = await openBrowser(product.url).visit('/api/v1/write', { method: 'POST', body: {}, headers })
    expect(status).toBe(200)
  })
})

describe('a user of the identity provider', () => {
  let idp: IdentityProvider
  beforeEach(async () => {
    idp = await startIdentityProvider(createClock(() => nowMs))
  })
  afterEach(async () => idp[Symbol.asyncDispose]())
  const startWithIdp = async (env: Variables = {}) =>
    start({ SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: idp.url, ...env })

  /** Follows redirects until a response is not a redirect, or redirects to a path of the product. */
  const follow = async ({ visit }: ReturnType<typeof openBrowser>, path: string, most = 8) => {
    const trail = [path]
    for (let at = path; trail.length <= most;) {
      const { status, location, body } = await visit(at)
      if (status !== 302 || location === null) return { trail, status, body }
      at = new URL(location, new URL(at, 'http://x')).href
      if (location.startsWith('/')) return { trail: [...trail, location], status, body }
      trail.push(location)
    }
    return { trail, status: 0, body: undefined }
  }

  it('signs in at the provider and returns to the original page', async () => {
    await using product = await startWithIdp()
    const browser = openBrowser(product.url)
    const { trail } = await follow(browser, '/api/v1/auth/sign-in?return=/overview%3Fhost%3D1')
    expect(trail.map((at) => new URL(at, product.url).pathname)).toEqual([
      '/api/v1/auth/sign-in',
      '/sign-in',
      '/api/v1/auth/callback',
      '/v1/client/handshake',
      '/api/v1/auth/callback',
      '/overview',
    ])
    expect(trail.at(-1)).toBe('/overview?host=1')
    expect(await browser.visit('/api/v1/auth/me')).toMatchObject({
      body: { data: { kind: 'user', subject: 'user_ada', provider: 'idp', may: { read: true, write: true } } },
    })
    expect([...browser.jar.keys()]).toEqual(['__session'])
  })

  it('signs in with a handshake cookie, as on a shared domain', async () => {
    await using product = await startWithIdp()
    const { jar, visit } = openBrowser(product.url)
    const { location } = await visit('/api/v1/auth/sign-in?return=/hosts')
    jar.set('__clerk_handshake', await idp.keys.sign({ handshake: [`__session=${await idp.token()}; Path=/`] }))
    const callback = new URL(location ?? '').searchParams.get('redirect_url') ?? ''
    expect(await visit(callback)).toMatchObject({ status: 302, location: '/hosts' })
    expect((await visit('/api/v1/read')).status).toBe(200)
  })

  it('gets one session from two concurrent sign-ins', async () => {
    await using product = await startWithIdp()
    const browser = openBrowser(product.url)
    const { location: first } = await browser.visit('/api/v1/auth/sign-in?return=/hosts')
    await follow(browser, '/api/v1/auth/sign-in')
    const callback = new URL(first ?? '').searchParams.get('redirect_url') ?? ''
    expect(await browser.visit(callback)).toMatchObject({ status: 302, location: '/hosts' })
  })

  it('gets an error instead of a redirect loop when the provider has no session', async () => {
    await using product = await startWithIdp()
    idp.sessions.clear()
    const { trail, status } = await follow(openBrowser(product.url), '/api/v1/auth/sign-in')
    expect([status, trail.length]).toEqual([401, 5])
  })

  it('is not signed in by the link of another browser', async () => {
    await using product = await startWithIdp()
    const attacker = openBrowser(product.url)
    const { trail } = await follow(attacker, '/api/v1/auth/sign-in')
    const callback = trail.at(-2) ?? ''
    expect(callback).toContain('__clerk_handshake')
    const victim = openBrowser(product.url)
    expect((await victim.visit(callback)).status).toBe(401)
    const stateless = await victim.visit(callback.replace(/state=[^&]+/, 'state='))
    expect([stateless.status, stateless.lines]).toEqual([400, []])
    expect((await victim.visit('/api/v1/read')).status).toBe(401)
  })

  it('is not signed in by a handshake with another signature', async () => {
    await using product = await startWithIdp()
    const browser = openBrowser(product.url)
    const { location } = await browser.visit('/api/v1/auth/sign-in')
    const callback = new URL(new URL(location ?? '').searchParams.get('redirect_url') ?? '')
    const token = await idp.token()
    const handshake = (await idp.keys.sign({ handshake: [`__session=${token}`] })).slice(0, -4)
    callback.searchParams.set('__clerk_handshake', `${handshake}AAAA`)
    callback.searchParams.set('handshaken', '1')
    expect((await browser.visit(callback.href)).status).toBe(401)
  })

  it.each([
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    'https://evil.example',
    'javascript:alert(1)',
    'overview',
    '',
    `/${'a'.repeat(2_048)}`,
  ])('is never redirected to %j', async (target) => {
    await using product = await startWithIdp()
    const { visit } = openBrowser(product.url)
    const answered = await visit(`/api/v1/auth/sign-in?return=${encodeURIComponent(target)}`)
    expect(answered).toMatchObject({ status: 400, body: { error: { details: { parameter: 'return' } } } })
  })

  it('has the identity of the last sign-in', async () => {
    await using product = await startWithIdp({ SVC_API_KEY_SECRET: secret })
    const browser = openBrowser(product.url)
    const who = async () => (await browser.visit('/api/v1/read')).body
    await follow(browser, '/api/v1/auth/sign-in')
    expect(await who()).toMatchObject({ kind: 'user', subject: 'user_ada' })
    await browser.visit('/api/v1/auth/session', { method: 'POST', body: { key: keyOf(4_102_444_799) } })
    expect(await who()).toMatchObject({ kind: 'key', subject: 'ada' })
    await follow(browser, '/api/v1/auth/sign-in')
    expect(await who()).toMatchObject({ kind: 'user', subject: 'user_ada' })
    expect([...browser.jar.keys()]).toEqual(['__session'])
  })

  it('signs out of the service and the provider', async () => {
    await using product = await startWithIdp({ IDP_SECRET_KEY: idpSecretKey, IDP_API_URL: idp.url })
    const browser = openBrowser(product.url)
    await follow(browser, '/api/v1/auth/sign-in')
    const stolen = browser.jar.get('__session') ?? ''
    expect((await browser.visit('/api/v1/auth/session', { method: 'DELETE' })).status).toBe(200)
    expect([...browser.jar.keys()]).toEqual([])
    expect([...idp.sessions.keys()]).toEqual([])
    nowMs += 120_000
    browser.jar.set('__session', stolen)
    expect((await browser.visit('/api/v1/read')).status).toBe(401)
  })

  it('signs out even when the provider is unreachable', async () => {
    await using product = await startWithIdp({ IDP_SECRET_KEY: idpSecretKey, IDP_API_URL: idp.url })
    const browser = openBrowser(product.url)
    await follow(browser, '/api/v1/auth/sign-in')
    idp.isDown = true
    expect((await browser.visit('/api/v1/auth/session', { method: 'DELETE' })).status).toBe(200)
    expect([...browser.jar.keys()]).toEqual([])
  })
})

describe('GET /api/v1/auth/me', () => {
  it.each<[Variables, object]>([
    [{}, { kind: 'anonymous', provider: 'none', may: { read: true, write: true }, signIn: { page: null, key: false } }],
    [
      { SVC_API_KEY_SECRET: secret },
      { kind: 'anonymous', may: { read: false, write: false }, signIn: { page: null, key: true } },
    ],
    [
      { SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLIC_READ: '1' },
      { may: { read: true, write: false }, signIn: { page: '/api/v1/auth/sign-in', key: false } },
    ],
  ])('is public with %j', async (env, expected) => {
    await using product = await start(env)
    const { status, body } = await openBrowser(product.url).visit('/api/v1/auth/me')
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, data: expected })
  })

  it('omits disabled features', async () => {
    await using product = await start({ SVC_DISABLED_FEATURES: 'AGENT,MCP' })
    const { body } = await openBrowser(product.url).visit('/api/v1/auth/me')
    expect(body).toMatchObject({ data: { features: expect.not.arrayContaining(['AGENT']) } })
    expect(body).toMatchObject({ data: { features: expect.arrayContaining(['QUERIES']) } })
  })

  it('has no sign-in page without an identity provider', async () => {
    await using product = await start({})
    const { visit } = openBrowser(product.url)
    expect((await visit('/api/v1/auth/sign-in')).status).toBe(404)
    expect((await visit('/api/v1/auth/callback?state=s')).status).toBe(404)
  })
})
