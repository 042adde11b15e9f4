// @module-tag long
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { ErrorResponse } from '#proto/http/response.ts'
import { HealthzResponse } from '#proto/http/status.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type BadHost, startGarbageHost, startHangingHost, startRefusingHost } from '../testing/bad-hosts.ts'
import { type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const statementLimitSeconds = 2
/** Maximum response time for a hanging host, in milliseconds. The product waits longer than the statement limit. */
const hangEndsWithinMs = 9_000

describeOnTopologies('faulty hosts', (topology) => {
  let good: Sandbox
  let bad: Record<'down' | 'stuck' | 'garbled', BadHost>
  let product: Product

  beforeAll(async () => {
    good = await startSandbox({ label: 'good' })
    bad = { down: await startRefusingHost(), stuck: await startHangingHost(), garbled: await startGarbageHost() }
    const hosts = [
      { url: good.url, name: 'good' },
      ...Object.entries(bad).map(([name, { url }]) => ({ url, name })),
      {
        url: good.url.replace('127.0.0.1', 'localhost'),
        name: 'locked',
        user: 'watchhouse',
        password: 'wrong-password',
      },
    ]
    product = await startProduct({
      topology,
      hosts,
      env: { COLUMNDB_MAX_EXECUTION_TIME: String(statementLimitSeconds) },
    })
  })
  afterAll(async () => {
    await product?.stop()
    for (const host of Object.values(bad ?? {})) await host[Symbol.asyncDispose]()
    await good?.[Symbol.asyncDispose]()
  })

  const overview = (hostId: number) => fetchJson(`${product.url}/api/v1/overview?hostId=${hostId}`)

  it.each([
    ['is down', 1, 'down', 503],
    ['hangs', 2, 'stuck', 504],
    ['answers garbage', 3, 'garbled', 503],
    ['refuses the password', 4, 'locked', 503],
  ])(
    'names a host that %s by its label, and never by its address, user or password',
    async (_, hostId, label, status) => {
      const answer = await overview(hostId)
      expect(answer.status).toBe(status)
      expect(ErrorResponse.parse(answer.body).error.message).toContain(label)
      expect(answer.text).not.toMatch(/127\.0\.0\.1|localhost|wrong-password|watchhouse/)
      expect(answer.tookMs).toBeLessThan(hangEndsWithinMs)
    },
  )

  it('serves the other hosts while one hangs', async () => {
    const hanging = Array.from({ length: 20 }, () => overview(2))
    const answers = await Promise.all(Array.from({ length: 10 }, () => overview(0)))
    expect(answers.map((answer) => answer.status)).toEqual(Array(10).fill(200))
    expect(Math.max(...answers.map((answer) => answer.tookMs))).toBeLessThan(statementLimitSeconds * 1000)
    for (const answer of await Promise.all(hanging)) expect([503, 504]).toContain(answer.status)
  })

  it('lists unreachable hosts in healthz at once, without connecting to any', async () => {
    const states = await retryUntil(
      async () => HealthzResponse.parse((await fetchJson(`${product.url}/api/healthz`)).body).hosts,
      (hosts) => hosts.every((host) => host.status !== 'unknown'),
    )
    expect(states).toEqual([
      { id: 0, status: 'up' },
      { id: 1, status: 'down' },
      { id: 2, status: 'down' },
      { id: 3, status: 'down' },
      { id: 4, status: 'down' },
    ])
    const dialledBefore = bad.garbled.connections
    const answers = await Promise.all(Array.from({ length: 100 }, () => fetchJson(`${product.url}/api/healthz`)))
    expect(answers.filter((answer) => answer.status !== 200)).toEqual([])
    // The background probe may have connected once in the meantime.
    expect(bad.garbled.connections - dialledBefore).toBeLessThanOrEqual(1)
  })

  it('lists the available names if a host or a chart is unknown', async () => {
    const host = await overview(9)
    expect(host.status).toBe(404)
    const chart = await fetchJson(`${product.url}/api/v1/charts/query-coutn?hostId=0`)
    expect(chart.status).toBe(404)
    expect(ErrorResponse.parse(chart.body).error.message + JSON.stringify(chart.body)).toContain('query-count')
    const table = await fetchJson(`${product.url}/api/v1/tables/diks?hostId=0`)
    expect(table.status).toBe(404)
    expect(JSON.stringify(table.body)).toContain('disks')
  })

  it.each(['abc', '1e9', '1.5', '-1', ''])('rejects hostId=%s and names the parameter', async (hostId) => {
    const answer = await fetchJson(`${product.url}/api/v1/overview?hostId=${hostId}`)
    expect(answer.status).toBe(400)
    expect(z.object({ error: z.object({ message: z.string() }) }).parse(answer.body).error.message).toContain('hostId')
  })
})
