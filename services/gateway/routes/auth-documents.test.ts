import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { ApiCatalog, CliDiscovery, ProtectedResource } from '#proto/http/auth.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const wellKnown = '/.well-known/oauth-protected-resource'
const get = (url: string) => fetch(url, { headers: { authorization: 'Bearer of something else' } })

describe('documents for callers that are not signed in', () => {
  it('are public even when all other routes require a key', async () => {
    await using product = await startFakeProduct({ env: { SVC_API_KEY_SECRET: 's', SVC_DEVICE_LOGIN: 'true' } })
    expect((await get(`${product.url}/api/v1/hosts`)).status).toBe(401)
    const discovery = await get(`${product.url}/api/v1/auth/cli`)
    expect(CliDiscovery.parse(await discovery.json())).toMatchObject({ method: 'device', authProvider: 'none' })
    const notes = await get(`${product.url}/auth.md`)
    expect(notes.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(await notes.text()).toContain(`${product.url}/auth/device/code`)
  })

  it('link to the OpenAPI document from the RFC 9727 catalog, at the public URL', async () => {
    await using product = await startFakeProduct({ env: { SVC_PUBLIC_URL: 'https://watch.example/clickhouse/' } })
    const answer = await get(`${product.url}/.well-known/api-catalog`)
    expect(answer.headers.get('content-type')).toMatch(/^application\/linkset\+json/)
    const head = await fetch(`${product.url}/.well-known/api-catalog`, { method: 'HEAD' })
    expect(head.headers.get('link')).toBe('</.well-known/api-catalog>; rel="api-catalog"')
    const [entry] = ApiCatalog.parse(await answer.json()).linkset
    expect(entry?.anchor).toBe('https://watch.example/clickhouse/api/v1')
    expect(entry?.['service-desc']).toEqual([
      { href: 'https://watch.example/clickhouse/api/v1/openapi.json', type: 'application/openapi+json' },
    ])
  })
})

describe('protected resource metadata', () => {
  it.each([
    ['the address of the issuer', { IDP_OAUTH_ISSUER: 'https://auth.example/' }, 'https://auth.example'],
    ['a publishable key', { SVC_IDP_PUBLISHABLE_KEY: `pk_test_${btoa('clerk.example$')}` }, 'https://clerk.example'],
    ['a key for this alone', { IDP_PUBLISHABLE_KEY: `pk_live_${btoa('other.example$')}` }, 'https://other.example'],
  ])('returns the issuer from %s, on both paths', async (_what, env, issuer) => {
    await using product = await startFakeProduct({ env: { SVC_AUTH_PROVIDER: 'idp', ...env } })
    for (const resource of ['', '/api/mcp']) {
      const metadata = ProtectedResource.parse(await (await get(product.url + wellKnown + resource)).json())
      expect(metadata).toMatchObject({ resource: `${product.url}${resource}`, authorization_servers: [issuer] })
    }
  })

  it.each([
    ['no provider', {}],
    ['no issuer', { SVC_AUTH_PROVIDER: 'idp' }],
    ['another provider', { SVC_AUTH_PROVIDER: 'proxy', IDP_OAUTH_ISSUER: 'https://auth.example' }],
  ])('returns 404 with %s', async (_what, env) => {
    await using product = await startFakeProduct({ env: { ...env } })
    for (const resource of ['', '/api/mcp']) expect((await get(product.url + wellKnown + resource)).status).toBe(404)
  })
})

describe('the public address', () => {
  const fetchNotes = async (env: Record<string, string>, headers: Record<string, string>) => {
    await using product = await startFakeProduct({ env: { SVC_ALLOWED_HOSTS: '*', ...env } })
    const sendTo = request(`${product.url}/auth.md`, { headers: { host: 'inside:3000', ...headers } }).end()
    const [answer] = await once(sendTo, 'response')
    return { status: answer.statusCode, text: await text(answer) }
  }
  const proxied = { 'x-forwarded-proto': 'https, http', 'x-forwarded-host': 'watch.example, proxy' }

  it.each([
    ['http://inside:3000', {}, {}],
    ['http://inside:3000', {}, proxied],
    ['http://inside:3000', { SVC_TRUST_PROXY_HEADERS: 'false' }, proxied],
    ['https://watch.example', { SVC_TRUST_PROXY_HEADERS: 'true', SVC_TRUSTED_PROXY_HOPS: '2' }, proxied],
    ['http://proxy', { SVC_TRUST_PROXY_HEADERS: 'true' }, proxied],
    ['http://inside:3000', { SVC_TRUST_PROXY_HEADERS: 'true' }, { 'x-forwarded-proto': 'javascript' }],
    ['https://set.example', { SVC_TRUST_PROXY_HEADERS: 'true', SVC_PUBLIC_URL: 'https://set.example' }, proxied],
  ])('is %s with %j and %j', async (address, env, headers) => {
    expect((await fetchNotes({ ...env }, { ...headers })).text).toContain(`API: ${address}/api/v1.`)
  })

  it.each(['a b', '<script>', '[', 'x:99999', 'a"b', 'ada@evil.example', 'evil.example/x', '%65vil.example'])(
    'is refused where it would repeat the host %j',
    async (host) => {
      expect((await fetchNotes({}, { host })).status).toBe(400)
      const forwarded = { 'x-forwarded-host': host }
      expect((await fetchNotes({ SVC_TRUST_PROXY_HEADERS: 'true' }, forwarded)).status).toBe(400)
    },
  )

  it.each(['watch.example', 'WATCH-1.example:8443', '10.0.0.7:3000', '[::1]:3000', 'my_host'])(
    'may be the host %s',
    async (host) => {
      expect((await fetchNotes({}, { host })).text).toContain(`API: http://${host.toLowerCase()}/api/v1.`)
    },
  )

  it.each([
    ['not cached while it depends on the Host header', {}, 'no-store'],
    ['cached for an hour once it is configured', { SVC_PUBLIC_URL: 'https://watch.example' }, 'public, max-age=3600'],
  ])('is %s', async (_what, settings, kept) => {
    await using product = await startFakeProduct({
      env: { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://auth.example', ...settings },
    })
    for (const path of [wellKnown, '/.well-known/mcp/server-card.json']) {
      expect((await get(product.url + path)).headers.get('cache-control')).toBe(kept)
    }
    expect((await get(`${product.url}/auth.md`)).headers.get('cache-control')).toBe('no-store')
  })

  it.each([
    [1, { NODE_ENV: 'production' }],
    [0, { NODE_ENV: 'production', SVC_PUBLIC_URL: 'https://watch.example' }],
    [0, {}],
  ])('is missing in %s warnings at start with %j', async (times, env) => {
    await using product = await startFakeProduct({ env: { ...env } })
    expect(product.logged.filter((line) => line.includes('SVC_PUBLIC_URL is not set'))).toHaveLength(times)
  })
})
