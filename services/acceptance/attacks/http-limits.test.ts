// @module-tag long
import { createServer, request as forward } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { listenOnLoopback } from '#shared/net/testing/loopback-server.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { createGatewayVariables, startScriptedGateway } from '../../testing/scripted-gateway.ts'
import { sendRawRequest } from './raw-request.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** Common kinds of proxies, as functions that return the headers they set. Other headers pass unchanged. */
const proxies = {
  forwards: (sent: string | undefined, from: string) => ({ 'x-forwarded-for': listOf(sent, from) }),
  replaces: (_sent: string | undefined, from: string) => ({ 'x-real-ip': from }),
  /** A CDN with a proxy behind it. The proxy adds the address of the CDN. */
  chain: (sent: string | undefined, from: string) => ({
    'x-forwarded-for': listOf(sent, from, '172.16.3.4'),
    'x-real-ip': '172.16.3.4',
  }),
}

const listOf = (...entries: (string | undefined)[]) => entries.filter((each) => each !== undefined).join(', ')

const startProxy = async (target: string, named: (typeof proxies)[keyof typeof proxies]) => {
  const server = createServer((incoming, answer) => {
    const sent = incoming.headers['x-forwarded-for']
    const added = named(sent === undefined ? sent : String(sent), String(incoming.headers['x-test-client']))
    const headers = { ...incoming.headers, ...added }
    const passing = forward(target + incoming.url, { method: incoming.method, headers, agent: false }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers)
      response.pipe(answer)
    })
    incoming.pipe(passing)
  })
  const { origin, stop } = await listenOnLoopback(server)
  return { url: origin, [Symbol.asyncDispose]: stop }
}

const times = 9
const allowed = 5

/** Sends nine requests with different headers and returns how many are accepted. */
const answered = async (url: string, client: string, headersOf: (time: number) => Record<string, string>) => {
  let count = 0
  for (let time = 1; time <= times; time += 1) {
    const headers = { 'x-test-client': client, ...headersOf(time) }
    if ((await sendRawRequest(`${url}/api/v1/auth/me`, { headers })).status === 200) count += 1
  }
  return count
}

const evasions: Record<string, (time: number) => Record<string, string>> = {
  nothing: () => ({}),
  'X-Forwarded-For': (time) => ({ 'x-forwarded-for': `203.0.113.${time}` }),
  'X-Forwarded-For, longer each time': (time) => ({ 'x-forwarded-for': Array(time).fill('203.0.113.9').join(', ') }),
  'X-Real-IP': (time) => ({ 'x-real-ip': `203.0.113.${time}` }),
  'CF-Connecting-IP': (time) => ({ 'cf-connecting-ip': `203.0.113.${time}` }),
  Forwarded: (time) => ({ forwarded: `for=203.0.113.${time}` }),
  'True-Client-IP': (time) => ({ 'true-client-ip': `203.0.113.${time}` }),
  'all of them': (time) => ({
    'x-forwarded-for': `203.0.113.${time}`,
    'x-real-ip': `203.0.113.${time}`,
    'cf-connecting-ip': `203.0.113.${time}`,
    forwarded: `for=203.0.113.${time}`,
  }),
}

describe.each([
  ['X-Forwarded-For', 'forwards', {}],
  ['X-Forwarded-For, which is chosen', 'forwards', { SVC_CLIENT_ADDRESS_HEADER: 'X-Forwarded-For' }],
  ['X-Real-IP, which is chosen', 'replaces', { SVC_CLIENT_ADDRESS_HEADER: 'X-Real-IP' }],
  ['X-Forwarded-For, and its own peer as X-Real-IP', 'chain', { SVC_TRUSTED_PROXY_HOPS: '2' }],
] as const)('a client behind a proxy that sets %s', (_what, kind, settings) => {
  const scope = new AsyncDisposableStack()
  let proxy: { url: string }
  beforeAll(async () => {
    const limit = { SVC_TRUST_PROXY_HEADERS: 'true', RATE_LIMIT_API_PER_MIN: String(allowed) }
    const hosts = [{ url: 'http://127.0.0.1:1' }]
    const product = scope.use(await startProduct({ hosts, env: { ...limit, ...settings } }))
    proxy = scope.use(await startProxy(product.url, proxies[kind]))
  })
  afterAll(() => scope.disposeAsync())

  it.each(Object.keys(evasions).map((name, index) => [name, `192.0.2.${index + 1}`] as const))(
    'does not leave its limit by sending %s',
    async (name, client) => {
      const count = await answered(proxy.url, client, evasions[name] ?? (() => ({})))
      expect(count).toBeLessThanOrEqual(allowed)
      // A client without these headers still has its own rate limit.
      expect(await answered(proxy.url, `198.51.100.${client.split('.').at(-1)}`, () => ({}))).toBe(allowed)
    },
  )
})

describe('a guest of cloud mode', () => {
  const scope = new AsyncDisposableStack()
  let product: Product
  beforeAll(async () => {
    const gateway = scope.use(await startScriptedGateway({ script: [{ say: [{ text: 'Yes.' }] }] }))
    const cloud = { SVC_CLOUD_MODE: 'true', SVC_AUTH_PROVIDER: 'idp', IDP_OAUTH_ISSUER: 'https://login.example.com' }
    const env = {
      ...createGatewayVariables(gateway),
      ...cloud,
      SVC_TRUST_PROXY_HEADERS: 'true',
      RATE_LIMIT_AGENT_PER_MIN: '1000',
    }
    product = scope.use(await startProduct({ hosts: [{ url: 'http://127.0.0.1:1' }], env }))
  })
  afterAll(() => scope.disposeAsync())

  const request = (headers: Record<string, string>) =>
    sendRawRequest(`${product.url}/api/v1/agent`, { method: 'POST', headers, body: '{"message":"Is it well?"}' })
  const cookieOf = ({ headers }: Awaited<ReturnType<typeof request>>) => headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const statuses = async (headersOf: (time: number) => Promise<Record<string, string>>) => {
    const seen: number[] = []
    for (let time = 1; time <= 8; time += 1) seen.push((await request(await headersOf(time))).status)
    return seen
  }
  const from = (address: string) => ({ 'x-forwarded-for': address })

  it('is rejected without a cookie on every attempt', async () => {
    const seen = await statuses(async () => from('192.0.2.1'))
    expect(seen.filter((status) => status === 200)).toEqual([])
  })

  it.each([
    ['one address', () => '192.0.2.7'],
    ['one /24', (time: number) => `198.51.100.${time}`],
    ['one /64', (time: number) => `2001:db8:1:2::${time}`],
  ])('is answered three times with a new cookie each time, from %s', async (_what, address) => {
    const seen = await statuses(async (time) => {
      const there = from(address(time))
      return { ...there, cookie: cookieOf(await request(there)) }
    })
    expect(seen).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
  })

  it('is answered three times with one cookie, from however many networks', async () => {
    const cookie = cookieOf(await request(from('203.0.113.1')))
    const seen = await statuses(async (time) => ({ cookie, ...from(`203.0.${time + 1}.1`) }))
    expect(seen).toEqual([200, 200, 200, 429, 429, 429, 429, 429])
  })

  it('is not answered with a cookie that is not signed', async () => {
    const seen = await statuses(async (time) => ({
      cookie: `watchhouse_guest=00000000-0000-4000-8000-00000000000${time}.${'A'.repeat(43)}`,
      ...from(`203.1.${time}.1`),
    }))
    expect(seen).toEqual(Array.from({ length: 8 }, () => 401))
  })
})
