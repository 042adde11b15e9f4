// @module-tag long
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client } from '../client/client.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { describeWith } from '../testing/describe-with.ts'
import { expectServed } from '../testing/expect-served.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type HostProxy, startHostProxy } from '../testing/host-proxy.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'

const startMs = 120_000
const noticedWithinMs = 30_000
const scope = new AsyncDisposableStack()
let product: Product
let client: Client
let sandbox: Sandbox
let proxy: HostProxy
let isAway = false

const forOne = ['/api/v1/charts/query-count', '/api/v1/tables/running-queries', '/api/v1/tables/settings']

describeWith(['nats', 'redis', 'postgres'], 'a product without one of two ClickHouse hosts', () => {
  beforeAll(async () => {
    sandbox = scope.use(await startSandbox({ seed: false }))
    proxy = scope.use(
      await startHostProxy(sandbox.url, async (body) => {
        if (isAway) throw new Error('the host closes its connections')
        return body
      }),
    )
    product = scope.use(
      await startProduct({
        topology: 'nats',
        dispatcher: true,
        hosts: [
          { url: sandbox.url, name: 'first' },
          { url: proxy.url, name: 'second' },
        ],
        env: { CRON_SECRET: 'of the schedule', SVC_HEALTH_SWEEP_INTERVAL_MINUTES: '0' },
      }),
    )
    client = createProductClient(product)
    const status = async () => (await fetchJson(`${product.url}/api/v1/tables/settings?hostId=1&limit=1`)).status
    await retryUntil(status, (found) => found === 200, noticedWithinMs)
    isAway = true
    await retryUntil(status, (found) => found === 503, noticedWithinMs)
  }, startMs)
  afterAll(() => scope.disposeAsync())

  it('stays ready', async () => {
    for (const operationsUrl of product.operationsUrls)
      expect(await fetchJson(`${operationsUrl}/readyz`)).toMatchObject({
        status: 200,
        body: { ready: true },
      })
  })

  it.each(['/', '/api/v1/hosts', '/api/v1/fleet', '/api/v1/health/alert-state'])('serves %s', (path) =>
    expectServed(product, path),
  )

  it.each(forOne)('serves %s of the other host, and responds with 503 for this one', async (path) => {
    expect((await fetchJson(`${product.url}${path}?hostId=0`)).status).toBe(200)
    const { status, text } = await fetchJson(`${product.url}${path}?hostId=1`)
    expect([status, text]).toEqual([503, expect.stringContaining('second')])
  })

  it('sweeps both, and reports the host as unreachable', async () => {
    const headers = { authorization: 'Bearer of the schedule' }
    const sweep = async () => {
      const { data } = await client.call('GET /api/cron/health-sweep', { query: {}, headers })
      expect(data).toMatchObject({ hosts: 2 })
      return (await client.call('GET /api/v1/health/alert-state')).data
    }
    const unreachable = ({ ruleId }: { ruleId: string }) => ruleId === 'host-unreachable'
    const found = await retryUntil(sweep, (conditions) => conditions.some(unreachable), noticedWithinMs)
    expect(found.find(unreachable)).toMatchObject({ host: 'second' })
  })

  it('serves the host again when it responds', async () => {
    isAway = false
    const table = () => fetchJson(`${product.url}/api/v1/tables/settings?hostId=1&limit=1`)
    expect(await retryUntil(table, ({ status }) => status === 200, noticedWithinMs)).toMatchObject({ status: 200 })
  })
})
