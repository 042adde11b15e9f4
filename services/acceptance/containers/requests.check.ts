import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { fetchJson, queryClickHouse } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { watchFailedStatements } from './failed-statements.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const [url = ''] = process.env.TEST_CLICKHOUSE_REPLICAS?.split(',') ?? []
const secret = 'of the schedule'
const values: Readonly<Record<string, string>> = { database: 'shop', table: 'sales', hash: '1', queryId: 'none' }
/** Accepted statuses: 404 means that the host does not have the data, not that a query failed. */
const answered = new Set([200, 404])

const Parameter = z.object({ name: z.string(), in: z.string(), required: z.boolean().default(false) })
const Document = z.object({
  paths: z.record(z.string(), z.object({ get: z.object({ parameters: z.array(Parameter).default([]) }).optional() })),
})

let product: Product
let failed: () => Promise<unknown[]>

beforeAll(async () => {
  failed = await watchFailedStatements(url)
  await queryClickHouse(url, 'CREATE DATABASE shop')
  await queryClickHouse(
    url,
    `CREATE TABLE shop.sales (id UInt64, at DateTime, city LowCardinality(String), amount Decimal(12, 2),
      INDEX by_amount amount TYPE minmax, PROJECTION by_city (SELECT city, sum(amount) GROUP BY city))
    ENGINE = MergeTree PARTITION BY toYYYYMM(at) ORDER BY at`,
  )
  await queryClickHouse(url, "INSERT INTO shop.sales SELECT number, now() - number, 'Bern', 1 FROM numbers(10000)")
  await queryClickHouse(url, 'SELECT city, sum(amount) FROM shop.sales GROUP BY city')
  product = await startProduct({ hosts: [{ url, name: 'a' }], env: { CRON_SECRET: secret, SVC_QUERY_CACHE: 'off' } })
})
afterAll(async () => {
  await product?.stop()
  await queryClickHouse(url, 'DROP DATABASE shop SYNC')
})

/** Returns the paths of all GET routes about a host, with arguments that exist on this server. */
const questions = async (): Promise<string[]> => {
  const { paths } = Document.parse((await fetchJson(`${product.url}/api/v1/openapi.json`)).body)
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const needed = get?.parameters.filter((one) => one.required && one.name !== 'hostId') ?? []
    const isOfHost = get?.parameters.some(({ name }) => name === 'hostId') === true
    if (!isOfHost || needed.some(({ name }) => values[name] === undefined)) return []
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? name)
    const query = new URLSearchParams({ hostId: '0' })
    for (const one of needed.filter((each) => each.in === 'query')) query.set(one.name, values[one.name] ?? '')
    return [`${filled}?${query.toString()}`]
  })
}

it('answers every request about it without a failed statement', async () => {
  const requests = await questions()
  expect(requests.length).toBeGreaterThan(20)
  const others: string[] = []
  for (const question of requests) {
    const { status, text } = await fetchJson(`${product.url}${question}`)
    if (!answered.has(status)) others.push(`${question}: ${status} ${text.slice(0, 300)}`)
  }
  expect(others).toEqual([])
  const swept = await fetchJson(`${product.url}/api/cron/health-sweep`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  expect(swept.status).toBe(200)
  expect(await failed()).toEqual([])
})
