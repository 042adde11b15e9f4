// @module-tag long
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { retryUntil } from '../testing/fetch-json.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'

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
  const client = createProductClient(product)
  const overviews = await Promise.all(
    [0, 1].map((hostId) => client.call('GET /api/v1/overview', { query: { hostId } })),
  )
  return overviews.map(({ data }) => data.tableCount)
}

it('starts two embedded hosts without a host list, logs it, and stops them at its end', async () => {
  const product = await start()
  expect(product.output()).toContain('COLUMNDB_HOST is not set: starting two embedded ClickHouse hosts')
  const client = createProductClient(product)
  const { data } = await client.call('GET /api/v1/hosts')
  expect(data.map(({ name }) => name)).toEqual(labels)
  const health = await retryUntil(
    () => client.call('GET /api/healthz'),
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
