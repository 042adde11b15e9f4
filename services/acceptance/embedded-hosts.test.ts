// @module-tag long
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { HostsResponse, OverviewResponse } from '#proto/http/data.ts'
import { HealthzResponse } from '#proto/http/status.ts'
import { fetchJson, retryUntil } from '../testing/fetch-json.ts'
import { type Product, startProduct } from '../testing/product.ts'

vi.setConfig({ testTimeout: 240_000 })

const labels = ['sandbox-1', 'sandbox-2']
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'watchhouse-first-look-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const start = (): Promise<Product> =>
  startProduct({ hosts: [], env: { NODE_ENV: 'development', SVC_SANDBOX_DIRECTORY: directory } })

const tableCounts = async (product: Product): Promise<(number | null)[]> => {
  const answers = await Promise.all([0, 1].map((host) => fetchJson(`${product.url}/api/v1/overview?hostId=${host}`)))
  return answers.map((answer) => OverviewResponse.parse(answer.body).data.tableCount)
}

it('starts two embedded hosts without a host list, logs it, and stops them at its end', async () => {
  const product = await start()
  expect(product.output()).toContain('COLUMNDB_HOST is not set: starting two embedded ClickHouse hosts')
  const { data } = HostsResponse.parse((await fetchJson(`${product.url}/api/v1/hosts`)).body)
  expect(data.map(({ name }) => name)).toEqual(labels)
  const health = await retryUntil(
    async () => HealthzResponse.parse((await fetchJson(`${product.url}/api/healthz`)).body),
    ({ hosts }) => hosts.every(({ status }) => status === 'up'),
  )
  expect(health.ok).toBe(true)
  await retryUntil(
    async () => labels.every((label) => existsSync(join(directory, label, 'seeded'))),
    (seeded) => seeded,
    120_000,
  )
  const filled = await tableCounts(product)
  expect(Math.min(...filled.map(Number))).toBeGreaterThan(3)

  expect(await product.query.stop()).toMatchObject({ code: 0 })
  for (const { host } of data) await expect(fetch(`http://${host}/ping`)).rejects.toThrow()

  await using again = await start()
  const kept = await tableCounts(again)
  expect(kept).toEqual(filled)
})
