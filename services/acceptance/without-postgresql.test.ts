// @module-tag long
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith, startPostgres, type TestServer } from '../testing/describe-with.ts'
import { expectServed } from '../testing/expect-served.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'

const startMs = 120_000
const noticedWithinMs = 20_000
const json = { 'content-type': 'application/json' }
const scope = new AsyncDisposableStack()
let product: Product
let sandbox: Sandbox
let postgres: TestServer

describeWith(['nats', 'redis', 'postgres'], 'a product without PostgreSQL', () => {
  beforeAll(async () => {
    sandbox = scope.use(await startSandbox({ seed: false }))
    postgres = scope.use(await startPostgres({ private: true }))
    product = scope.use(
      await startProduct({
        topology: 'nats',
        dispatcher: true,
        toolServer: true,
        hosts: [{ url: sandbox.url, name: 'first' }],
        env: {
          SVC_STATE_DB_URL: postgres.url,
          SVC_FEATURE_USER_CONNECTIONS_DB: 'true',
          SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator, thirty-two',
          CRON_SECRET: 'of the schedule',
          SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0',
          SVC_MCP_PUBLIC: 'true',
        },
      }),
    )
    await postgres.kill()
    const problem = async () => (await fetchJson(`${product.gateway.operationsUrl}/readyz`)).text
    await retryUntil(problem, (text) => text.includes('gateway database'), noticedWithinMs)
  }, startMs)
  afterAll(() => scope.disposeAsync())

  it('stays ready', async () => {
    for (const operationsUrl of product.operationsUrls)
      expect(await fetchJson(`${operationsUrl}/readyz`)).toMatchObject({ status: 200, body: { ready: true } })
  })

  it.each([
    '/',
    '/api/v1/hosts',
    '/api/v1/overview?hostId=0',
    '/api/v1/charts/query-count?hostId=0',
    '/api/v1/tables/running-queries?hostId=0',
    '/api/v1/fleet',
    '/api/v1/health/alert-state',
    '/api/v1/health/alert-config',
  ])('serves %s', (path) => expectServed(product, path))

  it('runs sweeps', async () => {
    const headers = { authorization: 'Bearer of the schedule' }
    const { status, text } = await fetchJson(`${product.url}/api/cron/health-sweep`, { headers })
    expect([status, text]).toEqual([200, expect.stringContaining('"hosts":1')])
  })

  it.each(['/api/v1/health/history', '/api/v1/reports', '/api/v1/user-connections'])(
    'responds with 503 to %s, which needs saved data',
    async (path) => {
      const { status, text } = await fetchJson(`${product.url}${path}`)
      expect([path, status, text]).toEqual([path, 503, expect.stringContaining('unavailable')])
    },
  )

  it('responds with 503 if it cannot save', async () => {
    const body = JSON.stringify({ settings: { url: 'https://example.com/hook' } })
    const url = `${product.url}/api/v1/health/alert-config/channels/webhook`
    expect((await fetchJson(url, { method: 'PUT', headers: json, body })).status).toBe(503)
  })

  it('serves saved data again when PostgreSQL is back', async () => {
    await postgres.restart()
    const history = () => fetchJson(`${product.url}/api/v1/health/history`)
    expect(await retryUntil(history, ({ status }) => status === 200, noticedWithinMs)).toMatchObject({ status: 200 })
  })
})
