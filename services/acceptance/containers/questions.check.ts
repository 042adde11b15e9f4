import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ask, askEngine } from '../../testing/ask.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { watchFailures } from './failed-statements.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const [url = ''] = process.env.TEST_CLICKHOUSE_REPLICAS?.split(',') ?? []
const secret = 'of the schedule'
const values: Readonly<Record<string, string>> = { database: 'shop', table: 'sales', hash: '1', queryId: 'none' }
/** Said of what is not there, not of what could not be asked. */
const answered = new Set([200, 404])

const Parameter = z.object({ name: z.string(), in: z.string(), required: z.boolean().default(false) })
const Document = z.object({
  paths: z.record(z.string(), z.object({ get: z.object({ parameters: z.array(Parameter).default([]) }).optional() })),
})

let product: Product
let failed: () => Promise<unknown[]>

beforeAll(async () => {
  failed = await watchFailures(url)
  await askEngine(url, 'CREATE DATABASE shop')
  await askEngine(
    url,
    `CREATE TABLE shop.sales (id UInt64, at DateTime, city LowCardinality(String), amount Decimal(12, 2),
      INDEX by_amount amount TYPE minmax, PROJECTION by_city (SELECT city, sum(amount) GROUP BY city))
    ENGINE = MergeTree PARTITION BY toYYYYMM(at) ORDER BY at`,
  )
  await askEngine(url, "INSERT INTO shop.sales SELECT number, now() - number, 'Bern', 1 FROM numbers(10000)")
  await askEngine(url, 'SELECT city, sum(amount) FROM shop.sales GROUP BY city')
  product = await startProduct({ hosts: [{ url, name: 'a' }], env: { CRON_SECRET: secret, SVC_QUERY_CACHE: 'off' } })
})
afterAll(async () => {
  await product?.stop()
  await askEngine(url, 'DROP DATABASE shop SYNC')
})

/** What can be asked about a host, with what this server has. */
const questions = async (): Promise<string[]> => {
  const { paths } = Document.parse((await ask(`${product.url}/api/v1/openapi.json`)).body)
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

it('answers all that can be asked about it, and no statement of ours fails on it', async () => {
  const asked = await questions()
  expect(asked.length).toBeGreaterThan(20)
  const others: string[] = []
  for (const question of asked) {
    const { status, text } = await ask(`${product.url}${question}`)
    if (!answered.has(status)) others.push(`${question}: ${status} ${text.slice(0, 300)}`)
  }
  expect(others).toEqual([])
  const swept = await ask(`${product.url}/api/cron/health-sweep`, { headers: { authorization: `Bearer ${secret}` } })
  expect(swept.status).toBe(200)
  expect(await failed()).toEqual([])
})
