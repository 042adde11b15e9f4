// @module-tag long
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { fetchJson } from '../testing/fetch-json.ts'
import { startProcess } from '../testing/product/product-process.ts'
import { reserveFreePort } from '../testing/servers/port.ts'
import { type TestServer, describeWith, startNats, startRedis } from '../testing/describe-with.ts'

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

const gateways = 4
const allowed = 100
/** A path that the gateway serves without another service. It counts towards the rate limit like every data route. */
const path = '/api/v1/auth/me'

describeWith(['nats', 'redis'], 'four gateways on one Redis', () => {
  const scope = new AsyncDisposableStack()
  let redis: TestServer
  let urls: string[]
  beforeAll(async () => {
    const nats = scope.use(await startNats({ private: true }))
    redis = scope.use(await startRedis({ private: true }))
    const start = async () => {
      const port = await reserveFreePort()
      const variables = {
        NATS_URL: nats.url,
        REDIS_URL: redis.url,
        HOST: '127.0.0.1',
        PORT: String(port),
        RATE_LIMIT_API_PER_MIN: String(allowed),
        SVC_TRUST_PROXY_HEADERS: 'true',
      }
      scope.use(await startProcess({ services: ['gateway'], variables, operationsPort: await reserveFreePort() }))
      return `http://127.0.0.1:${port}`
    }
    urls = await Promise.all(Array.from({ length: gateways }, start))
  })
  afterAll(() => scope.disposeAsync())

  /** Returns the statuses of concurrent requests of one client. */
  const statuses = async (urls: readonly string[], address: string): Promise<Record<number, number>> => {
    const answers = await Promise.all(
      urls.map((url) => fetchJson(url + path, { headers: { 'x-forwarded-for': address } })),
    )
    const counts: Record<number, number> = {}
    for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
    return counts
  }
  const each = (times: number) => Array.from({ length: times }, () => urls).flat()

  it('together admit as many requests of a client as one gateway', async () => {
    expect(await statuses(each(60), '192.0.2.1')).toEqual({ 200: allowed, 429: gateways * 60 - allowed })
    expect(await statuses(each(1), '192.0.2.1')).toEqual({ 429: gateways })
    expect(await statuses(each(1), '192.0.2.2')).toEqual({ 200: gateways })
  })

  it('continue without Redis, each with its own counters', async () => {
    await redis.kill()
    for (const url of urls) {
      const urls = Array.from({ length: allowed + 20 }, () => url)
      expect(await statuses(urls, '192.0.2.3')).toEqual({ 200: allowed, 429: 20 })
    }
  })
})
