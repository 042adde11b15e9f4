import { describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { HealthzResponse } from '#proto/http/status.ts'
import { startFakeProduct } from '../testing/fake-product.ts'
import { anonymousCaller } from '../auth/identity.ts'

const healthz = async (url: string) => {
  const response = await fetch(`${url}/api/healthz`)
  return { status: response.status, body: HealthzResponse.parse(await response.json()) }
}

describe('GET /api/healthz', () => {
  it('shows anonymous callers only which hosts are down', async () => {
    await using product = await startFakeProduct()
    const { status, body } = await healthz(product.url)
    expect(status).toBe(200)
    expect(body).toEqual({
      ok: false,
      hosts: [
        { id: 0, status: 'up' },
        { id: 1, status: 'down' },
      ],
      cloudMode: { build: false, runtime: false, warning: null },
    })
  })

  it('warns when the web was not built for cloud mode', async () => {
    await using product = await startFakeProduct({ env: { SVC_CLOUD_MODE: 'true' } })
    const { cloudMode } = (await healthz(product.url)).body
    expect(cloudMode).toEqual({
      build: false,
      runtime: true,
      warning: expect.stringContaining('web UI was built without it'),
    })
  })

  it('queries no host', async () => {
    await using product = await startFakeProduct()
    await healthz(product.url)
    expect(product.received.map(({ method }) => method)).toEqual(['hostStates'])
  })

  it('shows signed-in callers name, reason and age', async () => {
    await using product = await startFakeProduct({
      identify: async () => ({ ...anonymousCaller, kind: 'user', subject: 'ada' }),
    })
    const { body } = await healthz(product.url)
    expect(body.hosts[1]).toEqual({
      id: 1,
      status: 'down',
      name: 'logs',
      reason: 'unreachable',
      version: null,
      latencyMs: null,
      checkedAt: '2026-01-01T00:00:00.000Z',
    })
  })

  it('is ok when every host is up', async () => {
    const up = { reason: null, version: '26.3', uptimeSeconds: 1, latencyMs: 1, checkedAtMs: 0, name: 'a' }
    await using product = await startFakeProduct({
      query: { hostStates: async () => [{ ...up, id: 0, key: 'a', status: 'up' }] },
    })
    expect((await healthz(product.url)).body.ok).toBe(true)
  })

  it('returns 200 with the last known hosts when query fails', async () => {
    await using product = await startFakeProduct({
      query: {
        hostStates: async () => {
          throw new ServiceError('unavailable', 'not now')
        },
      },
    })
    expect((await healthz(product.url)).body).toMatchObject({ ok: false, hosts: [] })
    await fetch(`${product.url}/api/v1/hosts`)
    expect(await healthz(product.url)).toMatchObject({
      status: 200,
      body: {
        ok: false,
        hosts: [
          { id: 0, status: 'unknown' },
          { id: 1, status: 'unknown' },
        ],
      },
    })
  })

  it('returns the last states while query is slow, and unknown once they are stale', async () => {
    let [passedMs, isLate] = [0, false]
    const up = { reason: null, version: '26.3', uptimeSeconds: 1, latencyMs: 1, checkedAtMs: 0, name: 'a' }
    await using product = await startFakeProduct({
      clock: { now: Date.now, elapsedMs: () => performance.now() + passedMs },
      query: {
        hostStates: async (_input, { signal }) =>
          isLate
            ? new Promise((_, reject) => signal.addEventListener('abort', reject))
            : [{ ...up, id: 0, key: 'a', status: 'up' }],
      },
    })
    const seen = { ok: true, hosts: [{ id: 0, status: 'up' }] }
    expect((await healthz(product.url)).body).toMatchObject(seen)
    isLate = true
    passedMs = 5_000
    expect((await healthz(product.url)).body).toMatchObject(seen)
    passedMs = 30_000
    expect((await healthz(product.url)).body).toMatchObject({ ok: false, hosts: [] })
  })

  it('responds within a second when query hangs', async () => {
    await using product = await startFakeProduct({
      query: {
        hostStates: async (_input, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', reject)),
      },
    })
    const startedAt = performance.now()
    expect((await healthz(product.url)).status).toBe(200)
    expect(performance.now() - startedAt).toBeLessThan(3_000)
  })

  it('returns 200 when query is not running', async () => {
    await using product = await startFakeProduct({ withoutQuery: true })
    expect(await healthz(product.url)).toMatchObject({ status: 200, body: { ok: false, hosts: [] } })
  })
})
