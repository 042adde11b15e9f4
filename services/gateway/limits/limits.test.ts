import { createClock } from '#shared/time/clock.ts'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Identity } from '#proto/call.ts'
import { ErrorResponse } from '#proto/http/response.ts'
import { noQuery } from '#proto/http/parameters.ts'
import { openStore } from '#shared/store/open.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'
import { defineGetRoute, definePostRoute, type Route } from '../http-route.ts'
import { sessionRoutes } from '../routes/auth-session.ts'
import type { rateLimitSettings } from './config.ts'
import type { RateLimitBudget } from './limits.ts'

const traits = {
  doc: 'Returns the caller.',
  feature: null,
  access: 'read',
  query: noQuery,
  answer: z.object({ who: z.string() }),
} as const

/** Returns a route that responds with the caller and counts against one budget. */
const counted = (limit: RateLimitBudget, path: `/api/${string}` = `/api/${limit}`): Route =>
  defineGetRoute({ ...traits, path, limit, handle: async ({ call }) => ({ who: call.identity.subject }) })

/** A route with the access and rate limit of the agent route. */
const question = definePostRoute({
  ...traits,
  path: '/api/v1/agent',
  feature: 'AGENT',
  access: 'write',
  limit: 'agent',
  guests: true,
  body: z.object({ message: z.string() }),
  handle: async ({ call }) => ({ who: call.identity.subject }),
})

const from = (address: string) => ({ 'x-forwarded-for': address })
const trusting = { SVC_TRUST_PROXY_HEADERS: 'true' }

const get = async (url: string, headers: Record<string, string> = {}) => {
  const response = await fetch(url, { headers })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const statuses = async (often: number, request: () => Promise<{ status: number }>): Promise<number[]> => {
  const seen: number[] = []
  for (let time = 0; time < often; time += 1) seen.push((await request()).status)
  return seen
}

describe('a budget', () => {
  const rows: [limit: RateLimitBudget, variable: keyof typeof rateLimitSettings, fallback: number][] = [
    ['data', 'RATE_LIMIT_API_PER_MIN', 100],
    ['agent', 'RATE_LIMIT_AGENT_PER_MIN', 10],
    ['mcp', 'RATE_LIMIT_MCP_PER_MIN', 30],
    ['browser-connection-test', 'RATE_LIMIT_BROWSER_CONN_PER_MIN', 10],
    ['browser-connection-session', 'RATE_LIMIT_BROWSER_CONN_PER_MIN', 10],
    ['device-login', 'RATE_LIMIT_DEVICE_CODE_PER_MIN', 10],
  ]

  it.each(rows)('of %s is %s, by default %d', async (limit, variable, fallback) => {
    for (const [env, allowed] of [
      [{ [variable]: '' }, fallback],
      [{ [variable]: '2' }, 2],
    ] as const) {
      await using product = await startFakeProduct({ env, routes: [counted(limit)] })
      const seen = await Promise.all(Array.from({ length: allowed + 3 }, () => get(`${product.url}/api/${limit}`)))
      expect(seen.filter(({ status }) => status === 200)).toHaveLength(allowed)
      expect(seen.filter(({ status }) => status === 429)).toHaveLength(3)
    }
  })

  it('is reported in every response, with Retry-After in a rejection', async () => {
    await using product = await startFakeProduct({ env: { RATE_LIMIT_API_PER_MIN: '2' }, routes: [counted('data')] })
    const budget = async () => {
      const { status, headers } = await get(`${product.url}/api/data`)
      return [status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]
    }
    expect([await budget(), await budget(), await budget()]).toEqual([
      [200, '2', '1'],
      [200, '2', '0'],
      [429, '2', '0'],
    ])
    const { headers, body } = await get(`${product.url}/api/data`)
    expect(ErrorResponse.parse(body).error).toEqual({
      type: 'rate-limited',
      message: 'more than 2 requests a minute from one address',
      details: { limit: 2 },
    })
    for (const name of ['retry-after', 'ratelimit-reset']) {
      expect(Number(headers.get(name))).toBeGreaterThan(0)
      expect(Number(headers.get(name))).toBeLessThanOrEqual(60)
    }
  })

  it('is counted separately by address and route family', async () => {
    const routes = (['data', 'browser-connection-test', 'browser-connection-session'] as const).map((limit) =>
      counted(limit),
    )
    const env = { ...trusting, RATE_LIMIT_API_PER_MIN: '1', RATE_LIMIT_BROWSER_CONN_PER_MIN: '1' }
    await using product = await startFakeProduct({ env, routes })
    for (const { path } of routes) {
      for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8::1', '2001:db8:0:1::1']) {
        expect((await get(product.url + path, from(address))).status).toBe(200)
      }
      for (const address of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::ffff']) {
        expect((await get(product.url + path, from(address))).status).toBe(429)
      }
    }
  })

  it('is shared by routes with the same budget', async () => {
    const routes = [counted('device-login', '/api/a'), counted('device-login', '/api/b')]
    await using product = await startFakeProduct({ env: { RATE_LIMIT_DEVICE_CODE_PER_MIN: '1' }, routes })
    expect([(await get(`${product.url}/api/a`)).status, (await get(`${product.url}/api/b`)).status]).toEqual([200, 429])
  })

  it('counts HEAD like GET', async () => {
    await using product = await startFakeProduct({ env: { RATE_LIMIT_API_PER_MIN: '1' }, routes: [counted('data')] })
    const head = await fetch(`${product.url}/api/data`, { method: 'HEAD' })
    expect([head.status, (await get(`${product.url}/api/data`)).status]).toEqual([200, 429])
  })

  it('ignores address headers that are not trusted', async () => {
    await using product = await startFakeProduct({ env: { RATE_LIMIT_API_PER_MIN: '1' }, routes: [counted('data')] })
    const headers = (address: string) => ({ ...from(address), 'x-forwarded-for': address, 'cf-connecting-ip': address })
    expect((await get(`${product.url}/api/data`, headers('192.0.2.1'))).status).toBe(200)
    expect((await get(`${product.url}/api/data`, headers('192.0.2.2'))).status).toBe(429)
  })

  it('changes with its variable within the current window', async () => {
    const env = { RATE_LIMIT_API_PER_MIN: '1' }
    await using product = await startFakeProduct({ env, routes: [counted('data')] })
    const request = () => get(`${product.url}/api/data`)
    expect(await statuses(2, request)).toEqual([200, 429])
    product.env.RATE_LIMIT_API_PER_MIN = '4'
    expect(await statuses(3, request)).toEqual([200, 200, 429])
  })

  it('rejects before authentication and before a body is read', async () => {
    let authenticated = 0
    const identify = async () => {
      authenticated += 1
      return anonymousCaller
    }
    const env = { RATE_LIMIT_AGENT_PER_MIN: '1' }
    await using product = await startFakeProduct({ env, identify, routes: [question] })
    const post = async () => (await fetch(`${product.url}/api/v1/agent`, { method: 'POST', body: '{' })).status
    expect([await post(), await post(), authenticated]).toEqual([415, 429, 1])
  })

  it('is not applied to routes without a limit', async () => {
    await using product = await startFakeProduct({ env: { RATE_LIMIT_API_PER_MIN: '1' } })
    const health = await Promise.all(Array.from({ length: 20 }, () => get(`${product.url}/api/health`)))
    expect(health.every(({ status, headers }) => status === 200 && !headers.has('ratelimit-limit'))).toBe(true)
  })
})

describe('questions to the agent', () => {
  const init = (headers: Record<string, string>) => ({
    method: 'POST',
    body: '{"message":"why"}',
    headers: { 'content-type': 'application/json', ...headers },
  })
  const send = async (url: string, headers: Record<string, string> = {}) => fetch(`${url}/api/v1/agent`, init(headers))
  const known = (kind: 'user' | 'key', subject: string): Identity => ({ kind, subject, features: 'all' })

  it('are counted per caller, from any number of addresses', async () => {
    const identities = [known('user', 'ada'), known('user', 'bob'), known('key', 'ada')]
    let identity = anonymousCaller
    await using product = await startFakeProduct({
      env: { ...trusting, RATE_LIMIT_AGENT_PER_MIN: '2' },
      identify: async () => identity,
      routes: [question],
    })
    let address = 0
    const next = () => send(product.url, from(`192.0.2.${(address += 1)}`))
    for (identity of identities) expect(await statuses(3, next)).toEqual([200, 200, 429])
    // Anonymous callers are identified by address.
    identity = anonymousCaller
    expect(await statuses(4, next)).toEqual([200, 200, 200, 200])
  })

  const cloud = { SVC_CLOUD_MODE: 'true', SVC_AUTH_PROVIDER: 'idp', SVC_IDP_PUBLIC_READ: 'true' }
  const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]?.split(';')[0] ?? ''

  it('of anonymous callers are rejected outside cloud mode, even with public read', async () => {
    await using product = await startFakeProduct({ env: { ...cloud, SVC_CLOUD_MODE: '' }, routes: [question] })
    const refused = await send(product.url)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="watchhouse"'])
    expect(refused.headers.getSetCookie()).toEqual([])
  })

  /** Returns the cookie that the first response sets for a new visitor. */
  const visit = async (url: string, headers: Record<string, string> = {}): Promise<string> => {
    const refused = await send(url, headers)
    expect(refused.status).toBe(401)
    expect(ErrorResponse.parse(await refused.json()).error.message).toContain('send the request again with the cookie')
    return cookieOf(refused)
  }

  it('of a guest in cloud mode are limited to three a day, until midnight UTC', async () => {
    let now = Date.UTC(2026, 0, 1, 23, 59, 50)
    await using product = await startFakeProduct({ env: cloud, routes: [question], clock: createClock(() => now) })
    const first = await send(product.url)
    expect(first.headers.getSetCookie()[0]).toMatch(
      /^watchhouse_guest=[\da-f-]{36}\.[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const cookie = cookieOf(first)
    expect(await statuses(3, () => send(product.url, { cookie }))).toEqual([200, 200, 200])
    const refused = await send(product.url, { cookie })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    expect(ErrorResponse.parse(await refused.json()).error.message).toContain(
      'more than 3 questions a day from one guest',
    )
    now += 10_000
    expect((await send(product.url, { cookie })).status).toBe(200)
  })

  it('of guests are limited to three a day per network, regardless of cookies', async () => {
    const env = { ...cloud, ...trusting, RATE_LIMIT_AGENT_PER_MIN: '1000' }
    await using product = await startFakeProduct({ env, routes: [question] })
    const fromNewVisitor = async (address: string) =>
      send(product.url, { ...from(address), cookie: await visit(product.url, from(address)) })
    for (const [one, other, elsewhere] of [
      ['192.0.2.1', '192.0.2.200', '192.0.3.1'],
      ['2001:db8:1:2::1', '2001:db8:1:2:ffff::1', '2001:db8:1:3::1'],
    ]) {
      expect(await statuses(3, () => fromNewVisitor(one ?? ''))).toEqual([200, 200, 200])
      expect(await statuses(5, () => fromNewVisitor(other ?? ''))).toEqual([429, 429, 429, 429, 429])
      expect((await fromNewVisitor(elsewhere ?? '')).status).toBe(200)
    }
  })

  it('of a guest are limited to three a day per cookie, regardless of networks', async () => {
    await using product = await startFakeProduct({ env: { ...cloud, ...trusting }, routes: [question] })
    const cookie = await visit(product.url)
    let network = 0
    const next = () => send(product.url, { cookie, ...from(`192.0.${(network += 1)}.1`) })
    expect(await statuses(4, next)).toEqual([200, 200, 200, 429])
  })

  it('of a visitor that stores no cookie are all rejected', async () => {
    await using product = await startFakeProduct({ env: cloud, routes: [question] })
    expect(await statuses(8, () => send(product.url))).toEqual(Array.from({ length: 8 }, () => 401))
  })

  it('need no retry in the web, because its first request sets the cookie', async () => {
    await using product = await startFakeProduct({ env: cloud, routes: [question, ...sessionRoutes] })
    const first = await fetch(`${product.url}/api/v1/auth/me`)
    const cookie = cookieOf(first)
    expect((await send(product.url, { cookie })).status).toBe(200)
    const second = await fetch(`${product.url}/api/v1/auth/me`, { headers: { cookie } })
    expect([first.status, second.status, second.headers.getSetCookie()]).toEqual([200, 200, []])
    product.env.SVC_CLOUD_MODE = ''
    expect((await fetch(`${product.url}/api/v1/auth/me`)).headers.getSetCookie()).toEqual([])
  })

  it.each([
    ['', [200, 200, 200, 200, 200, 429]],
    ['2', [200, 200, 429]],
  ])('of a guest are limited to five a minute or to RATE_LIMIT_AGENT_GUEST_PER_MIN=%s', async (given, seen) => {
    const env = { ...cloud, SVC_GUEST_AI_REQUESTS_PER_DAY: '100', RATE_LIMIT_AGENT_GUEST_PER_MIN: given }
    await using product = await startFakeProduct({ env, routes: [question] })
    const cookie = await visit(product.url)
    expect(await statuses(seen.length, () => send(product.url, { cookie }))).toEqual(seen)
  })

  it('of a guest are rejected without a valid signature of the cookie', async () => {
    const store = await openStore({ env: {}, busIsShared: false })
    const start = () => startFakeProduct({ env: cloud, routes: [question], store })
    await using product = await start()
    await using other = await start()
    const cookie = await visit(product.url)
    const [id = '', signature = ''] = cookie.replace('watchhouse_guest=', '').split('.')
    const known = await send(other.url, { cookie })
    expect(await known.json()).toEqual({ who: id })
    expect(known.headers.getSetCookie()).toEqual([])
    const forged = [id.replace(/^./, (digit) => (digit === 'a' ? 'b' : 'a')), signature].join('.')
    for (const bad of [forged, `${id}.`, id, `${id}.${signature}x`]) {
      const next = await visit(product.url, { cookie: `watchhouse_guest=${bad}` })
      expect(next).not.toBe('')
      expect(next).not.toContain(id)
    }
  })
})
