import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { fetchJson, queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 240_000 })

/** The first of the two replicas that `run.ts` has started. */
const [a] = z.tuple([z.url(), z.url()]).parse(process.env.TEST_CLICKHOUSE_REPLICAS?.split(','))

let product: Product
beforeAll(async () => {
  product = await startProduct({ hosts: [{ url: a, name: 'a' }], env: { SVC_MCP_PUBLIC: 'true' } })
})
afterAll(() => product?.stop())

it.each([
  ['the pool of hot statements', 'get_running_queries', {}],
  ['the official client', 'query', { sql: 'SELECT count() FROM system.tables' }],
])('%s carries the trace of a tool call to system.opentelemetry_span_log', async (_what, name, given) => {
  const traceId = randomBytes(16).toString('hex')
  const traceparent = `00-${traceId}-${randomBytes(8).toString('hex')}-01`
  const params = { name, arguments: given, _meta: { traceparent } }
  const { status, body } = await fetchJson(`${product.url}/api/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  expect({ status, body }).toMatchObject({ status: 200, body: { result: { content: expect.any(Array) } } })
  expect(body).not.toHaveProperty('result.isError', true)
  const uuid = traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  const spans = await retryUntil(
    async () => {
      await queryClickHouse(a, 'SYSTEM FLUSH LOGS')
      return queryClickHouse(
        a,
        `SELECT operation_name AS name, attribute['clickhouse.query_id'] AS id FROM system.opentelemetry_span_log WHERE trace_id = '${uuid}'`,
      )
    },
    (found) => found.some(({ name: operation }) => operation === 'query'),
  )
  expect(spans.map((span) => span.name)).toContain('query')
})
