import { readFileSync } from 'node:fs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { queryClickHouse } from '../testing/fetch-json.ts'
import { startOpenProduct } from '../testing/mcp-conformance/start.ts'

const startLimitMs = 120_000
const Case = z.object({ sql: z.string(), verdict: z.enum(['accept', 'reject']), why: z.string() })
const corpus = z
  .array(Case)
  .parse(JSON.parse(readFileSync(new URL('../query/read-only/corpus.json', import.meta.url), 'utf8')))
const refused = corpus.filter(({ verdict }) => verdict === 'reject')
const Called = z.looseObject({
  isError: z.boolean().default(false),
  content: z.array(z.looseObject({ text: z.string() })),
})

/** Matches errors of the SQL guard. Errors of a host begin with its name. */
const byTheGuard = /^(invalid: query: |invalid arguments: sql )/

describe('the tool query', () => {
  let product: Awaited<ReturnType<typeof startOpenProduct>>
  const client = new Client({ name: 'test', version: '1.0.0' })
  beforeAll(async () => {
    product = await startOpenProduct()
    await client.connect(new StreamableHTTPClientTransport(new URL(`${product.url}/api/mcp`)))
  }, startLimitMs)
  afterAll(async () => {
    await client.close()
    await product?.[Symbol.asyncDispose]()
  })

  const call = async (sql: string) => {
    const { isError, content } = Called.parse(await client.callTool({ name: 'query', arguments: { sql } }))
    return { isError, sentence: content[0]?.text ?? '' }
  }

  it.each(refused)('refuses $sql: $why', async ({ sql }) => {
    const { isError, sentence } = await call(sql)
    expect({ isError, sentence }).toEqual({ isError: true, sentence: expect.stringMatching(byTheGuard) })
    expect(sentence.length).toBeLessThanOrEqual(2_000)
  })

  it('let nothing of that reach the host', async () => {
    await queryClickHouse(product.hostUrl, 'SELECT 11')
    await queryClickHouse(product.hostUrl, 'SYSTEM FLUSH LOGS query_log')
    const logged = await queryClickHouse(product.hostUrl, 'SELECT DISTINCT query FROM system.query_log')
    const texts = logged.map(({ query }) => String(query))
    expect(texts).toContain('SELECT 11')
    expect(refused.filter(({ sql }) => sql.trim() !== '' && texts.includes(sql.trim()))).toEqual([])
  })

  it.each(corpus.filter(({ verdict }) => verdict === 'accept'))('lets through $sql: $why', async ({ sql }) => {
    const { isError, sentence } = await call(sql)
    // The statement may fail at the host because a table is unknown, but the guard must accept it.
    expect(isError && byTheGuard.test(sentence), sentence).toBe(false)
  })
})
