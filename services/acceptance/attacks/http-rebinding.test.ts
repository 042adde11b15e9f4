// @module-tag long
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../gateway/routes.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { startSeededHost } from '../../testing/seeded-hosts.ts'
import { describeOnTopologies } from '../../testing/topologies.ts'
import { sendRawRequest } from './raw-request.ts'

/** Headers of a request after DNS rebinding: the browser treats page and product as the same origin. */
const rebound = { host: 'evil.example:3000', origin: 'http://evil.example:3000', 'sec-fetch-site': 'same-origin' }
const secret = 'the secret of the keys of this test'

describeOnTopologies('a page that uses DNS rebinding', (topology) => {
  const scope = new AsyncDisposableStack()
  let product: Product
  beforeAll(async () => {
    const sandbox = scope.use(await startSeededHost('one'))
    const hosts = [{ url: sandbox.url, name: 'one' }]
    const env = { SVC_MCP_PUBLIC: 'true', SVC_ALLOWED_HOSTS: 'watch.example' }
    product = scope.use(await startProduct({ topology, hosts, toolServer: true, env }))
  })
  afterAll(() => scope.disposeAsync())

  const query = (headers: Record<string, string>) => {
    const body = JSON.stringify({ query: 'SELECT 6 * 7 AS answer' })
    return sendRawRequest(`${product.url}/api/v1/explorer/query?hostId=0`, { method: 'POST', headers, body })
  }

  it('gets no rows, unlike the host names of the product', async () => {
    const refused = await query(rebound)
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('host not allowed: \\"evil.example:3000\\"; add its name to SVC_ALLOWED_HOSTS')
    for (const host of ['localhost:3000', '127.0.0.1:3000', '[::1]:3000', '10.42.0.17', 'watch.example']) {
      const answered = await query({ host })
      expect([host, answered.status, answered.text]).toEqual([host, 200, expect.stringContaining('42')])
    }
  })

  it.each(routes.map(({ method, path, secretOnly }) => [method, path, secretOnly] as const))(
    'gets nothing from %s %s',
    async (method, path, secretOnly) => {
      const url = product.url + path.replaceAll(/\{\w+\}/g, '1')
      const body = method === 'GET' || method === 'DELETE' ? undefined : '{}'
      const answer = await sendRawRequest(url, { method, headers: rebound, body })
      // Routes that require a secret may reject the request earlier, with another status.
      const isOwn = secretOnly && path !== '/api/mcp'
      expect(isOwn ? [400, 401, 403, 404, 415, 503] : [403]).toContain(answer.status)
      if (!isOwn) expect(answer.text).toContain('host not allowed')
    },
  )

  it.each(['/', '/explorer', '/favicon.ico', '/api', '/api/none', '/API/v1/hosts', '/api/v1/hosts/', '//api/v1/hosts'])(
    'gets nothing from %s',
    async (path) => {
      expect((await sendRawRequest(product.url + path, { headers: rebound })).status).toBe(403)
    },
  )

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'watch.example.evil.example',
    'evilwatch.example',
    'localhost@evil.example',
    'evil.example#localhost',
    'xn--lcalhost-54a.example',
    'watch',
  ])('is refused as %s', async (host) => {
    expect((await query({ host })).status).toBe(403)
  })
})

describe('a page of another site at the tool server', () => {
  const origin = 'https://tools.example.com'
  const call = async (url: string, headers: Record<string, string>, method = 'POST') => {
    const body = method === 'POST' ? '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' : undefined
    const answer = await sendRawRequest(`${url}/api/mcp`, { method, headers: { origin, ...headers }, body })
    return {
      status: answer.status,
      isReadable: answer.headers['access-control-allow-origin'] === '*',
      mayUseCookies: answer.headers['access-control-allow-credentials'] !== undefined,
    }
  }
  const preflight = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
  const readable = { isReadable: true, mayUseCookies: false }

  it('can call a public tool server', async () => {
    await using product = await startProduct({
      hosts: [{ url: 'http://127.0.0.1:1' }],
      env: { SVC_MCP_PUBLIC: 'true' },
    })
    expect(await call(product.url, preflight, 'OPTIONS')).toEqual({ status: 204, ...readable })
    expect(await call(product.url, {})).toEqual({ status: 200, ...readable })
  })

  it('can call a tool server that requires keys only with a key, never with the cookie of a user', async () => {
    const env = { SVC_API_KEY_SECRET: secret }
    await using product = await startProduct({ hosts: [{ url: 'http://127.0.0.1:1' }], env })
    const issued = await sendRawRequest(`${product.url}/api/v1/auth/api-key`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: '{"label":"tools","days":1}',
    })
    const { apiKey } = JSON.parse(issued.text).data
    const signIn = { method: 'POST', body: JSON.stringify({ key: apiKey }) }
    const session = await sendRawRequest(`${product.url}/api/v1/auth/session`, signIn)
    const cookie = String(session.headers['set-cookie']?.[0]).split(';')[0] ?? ''
    const me = await sendRawRequest(`${product.url}/api/v1/hosts`, { headers: { cookie } })
    expect([session.status, me.status]).toEqual([200, 200])
    expect(await call(product.url, preflight, 'OPTIONS')).toEqual({ status: 204, ...readable })
    expect(await call(product.url, { authorization: `Bearer ${apiKey}` })).toEqual({ status: 200, ...readable })
    expect(await call(product.url, { 'x-api-key': apiKey })).toEqual({ status: 200, ...readable })
    const without: Record<string, string>[] = [
      {},
      { cookie },
      { cookie, authorization: 'Bearer svc_forged' },
      { cookie, 'x-api-key': 'x' },
    ]
    for (const headers of without) {
      expect(await call(product.url, headers)).toEqual({ status: 401, ...readable })
    }
  })
})
