// @module-tag long
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSandbox, type Sandbox } from '../sandbox/start.ts'
import { expectServed } from '../testing/expect-served.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type TestServer, startNats, startRedis, describeWith } from '../testing/describe-with.ts'
import { type Product, startProduct } from '../testing/product.ts'

const startMs = 120_000
const noticedWithinMs = 20_000
const scope = new AsyncDisposableStack()
let product: Product
let sandbox: Sandbox
let redis: TestServer

describeWith(['nats', 'redis', 'postgres'], 'a product without Redis', () => {
  beforeAll(async () => {
    sandbox = scope.use(await startSandbox({ seed: false }))
    const nats = scope.use(await startNats({ private: true }))
    redis = scope.use(await startRedis({ private: true }))
    product = scope.use(
      await startProduct({
        topology: 'nats',
        dispatcher: true,
        toolServer: true,
        hosts: [{ url: sandbox.url, name: 'first' }],
        env: { NATS_URL: nats.url, REDIS_URL: redis.url, CRON_SECRET: 'of the schedule', SVC_MCP_PUBLIC: 'true' },
      }),
    )
    await redis.kill()
    for (const operationsUrl of product.operationsUrls) {
      const problem = async () => (await fetchJson(`${operationsUrl}/readyz`)).text
      await retryUntil(problem, (text) => text.includes('store'), noticedWithinMs)
    }
  }, startMs)
  afterAll(() => scope.disposeAsync())

  it('stays ready and names the problem', async () => {
    for (const operationsUrl of product.operationsUrls)
      expect(await fetchJson(`${operationsUrl}/readyz`)).toMatchObject({
        status: 200,
        body: { ready: true, problems: { store: expect.any(String) } },
      })
  })

  it.each([
    '/',
    '/api/v1/hosts',
    '/api/v1/overview?hostId=0',
    '/api/v1/host-status?hostId=0',
    '/api/v1/charts/query-count?hostId=0',
    '/api/v1/tables/running-queries?hostId=0',
    '/api/v1/fleet',
  ])('serves %s', (path) => expectServed(product, path))

  it('serves tools that read', async () => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_databases', arguments: {} } }
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const { status, text } = await fetchJson(`${product.url}/api/mcp`, {
      method: 'POST',
      headers,
      body: JSON.stringify(call),
    })
    expect([status, text]).toEqual([200, expect.stringContaining('system')])
  })

  it('names Redis where a request needs the shared state, as a sweep does', async () => {
    const headers = { authorization: 'Bearer of the schedule' }
    const { status, text } = await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })
    expect([status, text]).toEqual([503, expect.stringContaining('state store Redis')])
  })

  it('serves what needs the state again when Redis is back', async () => {
    await redis.restart()
    const state = () => fetchJson(`${product.url}/api/v1/health/alert-state`)
    expect(await retryUntil(state, ({ status }) => status === 200, noticedWithinMs)).toMatchObject({ status: 200 })
  })
})
