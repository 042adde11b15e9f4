import { request as send } from 'node:http'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import { signApiKey } from '../auth/keys/key-token.ts'
import { routes } from '../routes.ts'
import { fakeMcp } from '../testing/fake-services.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { allowedHostSettings } from './allowed-hosts.ts'

type Variables = Record<string, string>

/** Sends a request whose headers can include `Host`, which `fetch` does not allow; returns status and body. */
const statusOf = async (product: FakeProduct, path: string, headers: Variables, method = 'GET', body?: string) => {
  const json = body === undefined ? {} : { 'content-type': 'application/json' }
  const request = send(product.url + path, { method, headers: { ...json, ...headers } }).end(body)
  const [answer] = await once(request, 'response')
  return { status: answer.statusCode, text: await text(answer) }
}

const rebound = { host: 'evil.example:3000', origin: 'http://evil.example:3000' }
const secret = 'the secret of the keys'
const claims = { jti: 'a'.repeat(16), sub: 'ci', label: 'ci', scopes: ['write', 'mcp'], iat: 0, exp: 4_102_444_799 }
const byKey = { authorization: `Bearer ${signApiKey(claims, secret)}` }
const refused = (host: string) =>
  `host not allowed: "${host}"; add its name to SVC_ALLOWED_HOSTS, or set SVC_PUBLIC_URL`

describe('the host name, if callers need no credentials', () => {
  let product: FakeProduct
  const reset = {
    SVC_ALLOWED_HOSTS: '',
    SVC_PUBLIC_URL: '',
    HEALTH_ALERT_DASHBOARD_URL: '',
    SVC_TRUST_PROXY_HEADERS: '',
  }
  beforeAll(async () => {
    product = await startFakeProduct({ env: reset, mcp: fakeMcp })
  })
  afterEach(() => void Object.assign(product.env, reset))
  afterAll(() => product[Symbol.asyncDispose]())

  it.each<[string, string, Variables, number]>([
    ['of a rebinding page', 'evil.example', {}, 403],
    ['that only starts with localhost', 'localhost.evil.example', {}, 403],
    ['that starts with an address', '127.0.0.1.evil.example', {}, 403],
    ['that ends with an allowed name', 'evilwatch.example', { SVC_ALLOWED_HOSTS: 'watch.example' }, 403],
    ['that is a subdomain of an allowed name', 'evil.watch.example', { SVC_ALLOWED_HOSTS: 'watch.example' }, 403],
    ['with user information', 'localhost@evil.example', {}, 403],
    ['with one label', 'watch', {}, 403],
    ['localhost', 'localhost:3000', {}, 200],
    ['localhost with a trailing dot', 'LOCALHOST.:3000', {}, 200],
    ['that is a subdomain of localhost', 'watch.localhost', {}, 200],
    ['that is a loopback address', '127.0.0.1:3000', {}, 200],
    ['that is an IPv6 loopback address', '[::1]:3000', {}, 200],
    ['that is the address of a pod', '10.42.0.17:3000', {}, 200],
    ['that is an IPv6 address', '[2001:db8::7]:3000', {}, 200],
    ['of the machine', `${hostname()}:3000`, {}, 200],
    ['of SVC_PUBLIC_URL', 'watch.example', { SVC_PUBLIC_URL: 'https://watch.example/below' }, 200],
    ['of HEALTH_ALERT_DASHBOARD_URL', 'alerts.example', { HEALTH_ALERT_DASHBOARD_URL: 'https://alerts.example' }, 200],
    [
      'of an invalid HEALTH_ALERT_DASHBOARD_URL',
      'alerts.example',
      { HEALTH_ALERT_DASHBOARD_URL: 'alerts.example' },
      403,
    ],
    ['in the list', 'b.example:8443', { SVC_ALLOWED_HOSTS: 'a.example, B.example' }, 200],
    ['in the list, in ASCII', 'xn--bcher-kva.example', { SVC_ALLOWED_HOSTS: 'bücher.example' }, 200],
    ['that matches a wildcard', 'a.b.watch.example', { SVC_ALLOWED_HOSTS: '*.watch.example' }, 200],
    ['that is the parent of a wildcard', 'watch.example', { SVC_ALLOWED_HOSTS: '*.watch.example' }, 403],
    ['of any page, if all are allowed', 'evil.example', { SVC_ALLOWED_HOSTS: '*' }, 200],
  ])('%s, %s, with %j: %d', async (_what, host, env, status) => {
    Object.assign(product.env, env)
    const answer = await statusOf(product, '/api/v1/hosts', { host })
    expect(answer.status).toBe(status)
    if (status === 403) expect(ErrorResponse.parse(JSON.parse(answer.text)).error.message).toBe(refused(host))
  })

  it('is checked in X-Forwarded-Host too, if proxies are trusted', async () => {
    const forwarded = { host: '10.0.0.7:3000', 'x-forwarded-host': 'evil.example' }
    expect((await statusOf(product, '/api/v1/hosts', forwarded)).status).toBe(200)
    product.env.SVC_TRUST_PROXY_HEADERS = 'true'
    expect((await statusOf(product, '/api/v1/hosts', forwarded)).status).toBe(403)
    const behind = { host: 'evil.example', 'x-forwarded-host': 'localhost' }
    expect((await statusOf(product, '/api/v1/hosts', behind)).status).toBe(403)
    const several = { host: '10.0.0.7', 'x-forwarded-host': 'localhost, evil.example' }
    expect((await statusOf(product, '/api/v1/hosts', several)).status).toBe(403)
  })

  it.each([
    '/',
    '/health',
    '/api/health',
    '/api/v1/hosts',
    '/api/v1/metrics',
    '/api/v1/openapi.json',
    '/auth.md',
    '/api/none',
  ])('is checked for %s', async (path) => {
    expect((await statusOf(product, path, rebound)).status).toBe(403)
  })

  it('is checked for a statement', async () => {
    const body = JSON.stringify({ query: 'SELECT 1' })
    expect((await statusOf(product, '/api/v1/explorer/query', rebound, 'POST', body)).status).toBe(403)
  })

  it('is not checked for routes that require a secret', async () => {
    product.env.CRON_SECRET = 'the secret of the cron routes'
    expect((await statusOf(product, '/api/cron/health-sweep', { host: 'watch.svc' })).status).toBe(401)
    expect((await statusOf(product, '/api/mcp', { host: 'watch.svc' }, 'POST', '{}')).status).toBe(401)
  })
})

describe('the host name of a rebinding page', () => {
  const statuses = async (env: Variables, headers: Variables, path = '/api/v1/hosts') => {
    await using product = await startFakeProduct({ env, mcp: fakeMcp })
    const [method, body] = path === '/api/v1/hosts' ? ['GET'] : ['POST', '{}']
    return (await statusOf(product, path, { ...rebound, ...headers }, method, body)).status
  }
  const keys = { SVC_API_KEY_SECRET: secret }
  const idp = { SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://auth.example' }
  const trusted = { SVC_AUTH_PROVIDER: 'trusted' }

  it.each<[string, Variables, Variables, number]>([
    ['API keys', keys, byKey, 200],
    ['API keys, without sending one', keys, {}, 401],
    ['a provider', idp, {}, 401],
    ['a provider and public read access', { ...idp, SVC_IDP_PUBLIC_READ: 'true' }, {}, 403],
    ['cloud mode', { SVC_CLOUD_MODE: 'true', IDP_OAUTH_ISSUER: 'https://auth.example' }, {}, 403],
    ['a proxy with a secret', { ...trusted, SVC_TRUSTED_AUTH_SECRET: 'shared' }, { 'x-forwarded-user': 'ada' }, 401],
    [
      'a proxy without a secret',
      { ...trusted, SVC_TRUSTED_ALLOW_INSECURE: 'true' },
      { 'x-forwarded-user': 'ada' },
      403,
    ],
  ])('with %s', async (_what, env, headers, status) => {
    expect(await statuses(env, headers)).toBe(status)
  })

  it('gives no access to a public tool server or to connections of anonymous callers', async () => {
    const open = { ...trusted, SVC_TRUSTED_AUTH_SECRET: 'shared', SVC_MCP_PUBLIC: 'true' }
    expect(await statuses(open, {}, '/api/mcp')).toBe(403)
    expect(await statuses({ ...open, SVC_ALLOWED_HOSTS: 'evil.example' }, {}, '/api/mcp')).toBe(200)
    for (const path of ['/api/v1/browser-connections/test', '/api/v1/browser-connections/sessions']) {
      expect(await statuses(keys, {}, path)).toBe(403)
      expect(await statuses(keys, byKey, path)).toBe(400)
    }
  })
})

describe('a rebinding page that sends user headers, if the proxy needs no secret', () => {
  let product: FakeProduct
  const person = { ...rebound, 'x-forwarded-user': 'ada' }
  beforeAll(async () => {
    const insecure = { SVC_AUTH_PROVIDER: 'trusted', SVC_TRUSTED_ALLOW_INSECURE: 'true' }
    product = await startFakeProduct({
      env: { ...insecure, SVC_API_KEY_SECRET: secret, SVC_DEVICE_LOGIN_ENABLED: 'true' },
      mcp: fakeMcp,
    })
  })
  afterAll(() => product[Symbol.asyncDispose]())

  it('cannot list keys, revoke keys or approve a device', async () => {
    const list = '/api/v1/auth/api-keys'
    expect((await statusOf(product, list, { ...person, host: 'localhost' })).status).toBe(200)
    expect((await statusOf(product, list, person)).status).toBe(403)
    expect((await statusOf(product, `${list}/${'a'.repeat(16)}`, person, 'DELETE')).status).toBe(403)
    for (const decision of ['approve', 'deny']) {
      const body = JSON.stringify({ user_code: 'BCDF-GHJK' })
      expect((await statusOf(product, `/api/v1/auth/device/${decision}`, person, 'POST', body)).status).toBe(403)
    }
    expect((await statusOf(product, '/api/v1/auth/device/status?user_code=BCDF-GHJK', person)).status).toBe(403)
  })

  it.each(routes.map(({ method, path, secretOnly }) => [method, path, secretOnly] as const))(
    'gets no data from %s %s',
    async (method, path, secretOnly) => {
      const body = method === 'GET' || method === 'DELETE' ? undefined : '{"label":"ci","days":1}'
      const answer = await statusOf(product, path.replaceAll(/\{\w+\}/g, '1'), person, method, body)
      // 401: the request has no secret. 503: no secret is configured.
      expect(secretOnly ? [401, 503] : [403]).toContain(answer.status)
      if (!secretOnly) expect(answer.text).toContain('host not allowed')
    },
  )
})

describe('SVC_ALLOWED_HOSTS', () => {
  it.each([
    'https://watch.example',
    'watch.example:3000',
    'watch.example/path',
    '*.',
    'a.*.example',
    'a b',
    '*watch.example',
  ])('rejects %s', (value) => {
    expect(findSettingProblems(allowedHostSettings, { SVC_ALLOWED_HOSTS: value })).toEqual([
      { name: 'SVC_ALLOWED_HOSTS', sentence: expect.stringContaining('must be host names such as watch.example.com') },
    ])
  })

  it('is a list of names in lower case', () => {
    const { SVC_ALLOWED_HOSTS: names } = parseSettings(allowedHostSettings, {
      SVC_ALLOWED_HOSTS: 'A.example,, *.B.example ,*',
    })
    expect(names).toEqual(['a.example', '*.b.example', '*'])
  })
})
