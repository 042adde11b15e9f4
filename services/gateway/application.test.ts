import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import type { SpanAttributes, Tracer } from '#shared/telemetry/telemetry.ts'
import { type FakeProduct, startFakeProduct } from './testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
afterAll(async () => product[Symbol.asyncDispose]())

const headersOf = async (path: string, headers: Record<string, string> = {}) =>
  (await fetch(product.url + path, { headers })).headers

describe('every response', () => {
  it.each(['/api/health', '/api/v1/hosts', '/api/nothing', '/'])(
    '%s has a request id and no server header',
    async (path) => {
      const headers = await headersOf(path)
      expect(headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
      expect([headers.get('x-powered-by'), headers.get('server')]).toEqual([null, null])
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('referrer-policy')).toBeTruthy()
    },
  )

  it.each([
    ['a-b_c.d:1', true],
    ['x'.repeat(64), true],
    ['x'.repeat(65), false],
    ['a b', false],
    ['"quoted"', false],
    ['', false],
  ])('uses a valid request id of a proxy: %s', async (given, kept) => {
    const headers = await headersOf('/api/health', { 'x-request-id': given })
    expect(headers.get('x-request-id') === given).toBe(kept)
  })

  it.each(['/api/v1/hosts', '/api/v1/overview?hostId=0', '/api/v1/tables/running-queries', '/api/v1/nothing'])(
    '%s is not cacheable',
    async (path) => {
      expect((await headersOf(path)).get('cache-control')).toBe('no-store')
    },
  )
})

describe('methods', () => {
  it('returns the headers of GET for HEAD, without a body', async () => {
    const head = await fetch(`${product.url}/api/v1/hosts`, { method: 'HEAD' })
    const read = await fetch(`${product.url}/api/v1/hosts`)
    const { length } = await read.text()
    expect([head.status, await head.text(), head.headers.get('content-length')]).toEqual([200, '', String(length)])
  })

  it.each([
    ['/api/v1/hosts', 'GET, HEAD, POST, OPTIONS'],
    ['/api/v1/charts/batch', 'POST, OPTIONS'],
  ])('lists the methods of %s for OPTIONS', async (path, allow) => {
    const response = await fetch(product.url + path, { method: 'OPTIONS' })
    expect([response.status, response.headers.get('allow')]).toEqual([204, allow])
  })
})

describe('a cacheable response', () => {
  it.each(['/api/v1/catalogue', '/api/v1/config'])('%s returns 304 until it changes', async (path) => {
    const first = await fetch(product.url + path)
    const etag = first.headers.get('etag') ?? ''
    expect([first.headers.get('cache-control'), etag]).toEqual([
      'private, no-cache',
      expect.stringMatching(/^W\/".+"$/),
    ])
    const statusWith = async (tag: string) =>
      (await fetch(product.url + path, { headers: { 'if-none-match': tag } })).status
    expect(await statusWith(etag)).toBe(304)
    expect(await statusWith(`"other", ${etag}`)).toBe(304)
    expect(await statusWith('"other"')).toBe(200)
  })
})

describe('a large response', () => {
  const many = Array.from({ length: 500 }, (_, id) => ({
    database: 'shop',
    table: `orders_${id}`,
    engine: 'MergeTree',
  }))

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['identity', null],
    ['br;q=0, gzip;q=0.5', 'gzip'],
  ])('with accept-encoding %s is encoded as %s', async (accepted, encoding) => {
    await using product = await startFakeProduct({ query: { databaseTables: async () => many } })
    const response = await fetch(`${product.url}/api/v1/tables`, { headers: { 'accept-encoding': accepted } })
    expect(response.headers.get('content-encoding')).toBe(encoding)
    expect(await response.json()).toMatchObject({ data: many })
  })

  it('is compressed, unlike a small one', async () => {
    expect((await headersOf('/api/v1/hosts', { 'accept-encoding': 'gzip' })).get('content-encoding')).toBeNull()
  })
})

describe('telemetry of a request', () => {
  const expectEventually = async (holds: () => Promise<boolean>) =>
    expect.poll(holds, { timeout: 5_000, interval: 5 }).toBe(true)

  it('counts the route template, never the path', async () => {
    await using product = await startFakeProduct()
    await fetch(`${product.url}/api/v1/charts/query-count?hostId=0`)
    await fetch(`${product.url}/api/v1/charts/nothing-like-it`)
    await fetch(`${product.url}/api/made/up`)
    await fetch(`${product.url}/some/page`)
    await fetch(`${product.url}/api/v1/charts/batch`, { method: 'POST' })
    const name = 'watchhouse_http_request_duration_seconds_count'
    const line = (route: string, method: string, status: number) =>
      `${name}{route="${route}",method="${method}",status="${status}"} 1`
    const lines = [
      line('/api/v1/charts/{name}', 'GET', 200),
      line('/api/v1/charts/{name}', 'GET', 404),
      line('unknown', 'GET', 404),
      line('web', 'GET', 503),
      line('/api/v1/charts/batch', 'POST', 415),
    ]
    await expectEventually(async () => {
      const exposed = await product.metrics.metrics()
      return lines.every((line) => exposed.includes(line)) && exposed.includes('watchhouse_http_in_flight 0')
    })
  })

  it.each([
    ['/api/v1/overview?hostId=0', 200, false],
    ['/api/v1/overview?hostId=x', 400, false],
    ['/api/v1/charts/query-count', 503, true],
  ])('records a span that fails only for 5xx: %s', async (path, status, failed) => {
    const spans: { name: string; attributes: SpanAttributes; error?: unknown }[] = []
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
    const tracer: Tracer = {
      isExporting: true,
      start: (name, _kind, _parent, attributes) => {
        const span = { name, attributes: { ...attributes } }
        return {
          trace,
          set: (more) => Object.assign(span.attributes, more),
          end: (error) => spans.push({ ...span, error }),
        }
      },
    }
    const chart = async () => {
      throw new ServiceError('unavailable', 'host analytics is down')
    }
    await using product = await startFakeProduct({ tracer, query: { chart } })
    await fetch(product.url + path)
    expect(spans).toHaveLength(1)
    const route = path.startsWith('/api/v1/charts') ? '/api/v1/charts/{name}' : '/api/v1/overview'
    expect(spans[0]).toMatchObject({
      name: `GET ${route}`,
      attributes: { 'http.route': route, 'http.request.method': 'GET', 'http.response.status_code': status },
    })
    expect(spans[0]?.error !== undefined).toBe(failed)
    const calls = product.received.filter(({ method }) => method === 'overview' || method === 'chart')
    for (const { call } of calls) expect(call.trace).toEqual(trace)
  })

  it('logs one line without parameters', async () => {
    await using product = await startFakeProduct()
    await fetch(`${product.url}/api/v1/charts/query-count?params=%7B%22user%22:%22ada%22%7D`, {
      headers: { 'x-request-id': 'r1', authorization: 'Bearer hush' },
    })
    const lines = () => product.logged.filter((line) => line.includes('request answered'))
    await expectEventually(async () => lines().length > 0)
    expect(lines()).toHaveLength(1)
    expect(JSON.parse(lines()[0] ?? '')).toMatchObject({
      requestId: 'r1',
      method: 'GET',
      route: '/api/v1/charts/{name}',
      path: '/api/v1/charts/query-count',
      status: 200,
    })
    expect(product.logged.join('')).not.toMatch(/hush|ada/)
  })
})

describe('a caller that disconnects before the response', () => {
  it('cancels the work and is not an error', async () => {
    const working = Promise.withResolvers<AbortSignal>()
    const overview = async (_input: unknown, call: { signal: AbortSignal }): Promise<never> => {
      working.resolve(call.signal)
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
      throw call.signal.reason
    }
    await using held = await startFakeProduct({ query: { overview } })
    const leaving = new AbortController()
    const response = fetch(`${held.url}/api/v1/overview?hostId=0`, { signal: leaving.signal })
    const signal = await working.promise
    leaving.abort()
    await expect(response).rejects.toThrow()
    await expect.poll(() => signal.aborted, { timeout: 5_000 }).toBe(true)
    await expect.poll(() => held.logged.join(''), { timeout: 5_000 }).toContain('"status":499')
    expect(held.logged.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })
})
