// @module-tag long
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { startPausableHost } from '../testing/pausable-host.ts'
import { type Product, startProduct } from '../testing/product.ts'
import type { ProductProcess } from '../testing/product/product-process.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const inFlight = 8

describeOnTopologies('a stop under load', (topology) => {
  let sandbox: Sandbox

  beforeAll(async () => {
    sandbox = await startSandbox()
  })
  afterAll(() => sandbox?.[Symbol.asyncDispose]())

  const stopUnderLoad = async (of: (product: Product) => ProductProcess) => {
    await using host = await startPausableHost(sandbox.url)
    await using product = await startProduct({
      topology,
      hosts: [{ url: host.url, name: 'held' }],
      env: { SVC_QUERY_CACHE: 'off', SVC_PUBLIC_URL: 'https://watch.example.com' },
    })
    const rows = (limit: number) => fetchJson(`${product.url}/api/v1/tables/settings?hostId=0&limit=${limit}`)
    expect(await rows(1)).toMatchObject({ status: 200 })

    host.hold()
    const answers = Array.from({ length: inFlight }, (_, index) => rows(index + 2))
    await retryUntil(
      async () => host.waiting('system.settings'),
      (waiting) => waiting === inFlight,
    )
    const stopping = of(product)
    const ended = stopping.stop('SIGTERM')
    const readiness = await retryUntil(
      () => fetchJson(`${stopping.operationsUrl}/readyz`),
      ({ status }) => status === 503,
    )
    expect(readiness.body).toMatchObject({ ready: false, unmet: expect.arrayContaining(['start']) })
    const meanwhile = await fetchJson(`${product.url}/api/v1/hosts`).catch(() => 'refused' as const)
    host.release()

    const responses = await Promise.all(answers)
    expect(responses.map(({ status }) => status)).toEqual(Array(inFlight).fill(200))
    expect(responses.map(({ body }) => rowsOf(body))).toEqual(Array.from({ length: inFlight }, (_, index) => index + 2))
    expect(await ended).toMatchObject({ code: 0, signal: null })
    expect(stopping.output()).not.toMatch(/"level":"(warn|error|fatal)"/)
    return meanwhile
  }

  it('of the gateway completes requests in flight and accepts no new ones', async () => {
    expect(await stopUnderLoad((product) => product.gateway)).toBe('refused')
  })

  if (topology === 'memory') return

  it('of the query process completes requests in flight', async () => {
    expect(await stopUnderLoad((product) => product.query)).toMatchObject({ status: expect.any(Number) })
  })
})

const rowsOf = (body: unknown): number => {
  if (typeof body !== 'object' || body === null || !('data' in body) || !Array.isArray(body.data)) return -1
  return body.data.length
}
