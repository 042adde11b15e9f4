import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServiceError } from '#proto/errors.ts'
import { ConsoleResponse } from '#proto/http/console.ts'
import { sampleStatement } from '../testing/query.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const path = '/api/v1/explorer/query'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
afterAll(async () => product[Symbol.asyncDispose]())

const begin = async (body: unknown, headers: Record<string, string> = {}, url = product.url + path) => {
  const requestOptions = request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } })
  requestOptions.end(JSON.stringify(body))
  // The event `response` of a client request has its message as only argument.
  const [response] = (await once(requestOptions, 'response')) as [IncomingMessage]
  return response
}
const send = async (body: unknown, headers: Record<string, string> = {}, url?: string) => {
  const response = await begin(body, headers, url)
  const whole = await text(response)
  return { status: response.statusCode, headers: response.headers, trailers: response.trailers, text: whole }
}

describe('SQL of the caller', () => {
  it('returns columns, rows, statistics and the reason of truncation', async () => {
    const requestOptions = {
      query: 'SELECT 1',
      hostId: 1,
      database: 'shop',
      maxRows: 2,
      maxSeconds: 3,
      parameters: { a: 1 },
    }
    const { status, text: body } = await send({ ...requestOptions, runId: 'mine' })
    expect(status).toBe(200)
    const { data, metadata } = ConsoleResponse.parse(JSON.parse(body))
    expect(data).toEqual({
      columns: [
        { name: 'id', type: 'UInt64' },
        { name: 'text', type: 'String' },
      ],
      rows: [
        ['1', 'a\nb'],
        ['2', 'c'],
      ],
    })
    expect(metadata).toMatchObject({ truncated: { reason: 'rows', limit: 2, returned: 2 }, queryId: 'q2' })
    const { hostId: _, ...rest } = requestOptions
    expect(product.received.at(-1)).toMatchObject({ method: 'streamQuery', input: { ...rest, hostKey: 'logs' } })
  })

  it.each([
    [{ format: 'csv' }, {}, 'text/csv', '"id"\n1\n2\n'],
    [{ format: 'tsv' }, { accept: 'text/csv' }, 'text/tab-separated-values', 'id\n1\n2\n'],
    [{}, { accept: 'application/x-ndjson' }, 'application/x-ndjson', '{}\n{}\n'],
  ])('is exported as requested by %j %j', async (more, accept, type, expected) => {
    const answered = await send({ query: 'SELECT 1', ...more }, accept)
    expect([answered.status, answered.text]).toEqual([200, expected])
    expect(answered.headers['content-type']).toContain(type)
    expect(answered.headers['content-disposition']).toMatch(/^attachment; filename="query-analytics-[\d-]+\.\w+"$/)
    expect(answered.trailers).toEqual({ 'x-result-rows': '2', 'x-result-truncated': 'true' })
  })

  it.each([
    [{}, 'query'],
    [{ query: 'x'.repeat(100_001) }, 'query'],
    [{ query: 'SELECT 1', maxRows: 0 }, 'maxRows'],
    [{ query: 'SELECT 1', maxRows: 1.5 }, 'maxRows'],
    [{ query: 'SELECT 1', maxBytes: 1e12 }, 'maxBytes'],
    [{ query: 'SELECT 1', maxSeconds: '5' }, 'maxSeconds'],
    [{ query: 'SELECT 1', format: 'xml' }, 'format'],
    [{ query: 'SELECT 1', runId: "'; KILL" }, 'runId'],
    [{ query: 'SELECT 1', database: '' }, 'database'],
    [{ query: 'SELECT 1', parameters: { 'a b': 1 } }, 'parameters.a b'],
    [{ query: 'SELECT 1', parameters: { a: [1] } }, 'parameters.a'],
    [{ query: 'SELECT 1', settings: {} }, 'settings'],
  ])('rejects %.60j', async (body, parameter) => {
    const { status, text: answered } = await send(body)
    expect(status).toBe(400)
    expect(JSON.parse(answered)).toMatchObject({ success: false, error: { type: 'invalid', details: { parameter } } })
  })

  it('returns an error status when it fails before the first row', async () => {
    const details = { clickhouseCode: 60, clickhouseName: 'UNKNOWN_TABLE' }
    await using failing = await startFakeProduct({
      query: {
        streamQuery: async () => {
          throw new ServiceError('invalid', 'host analytics: no such table (60 UNKNOWN_TABLE)', { details })
        },
      },
    })
    const { status, text: answered } = await send({ query: 'SELECT 1', format: 'csv' }, {}, failing.url + path)
    expect(status).toBe(400)
    expect(JSON.parse(answered)).toMatchObject({ error: { type: 'invalid', details } })
    expect(failing.logged.join('\n')).not.toContain('SELECT 1')
  })

  it('is cancelled on the host when the client disconnects', async () => {
    const seen = { stopped: false }
    async function* endless() {
      try {
        while (!seen.stopped) yield Buffer.from(`[${'1'.repeat(100_000)}]\n`)
        return { truncated: null, statement: sampleStatement }
      } finally {
        seen.stopped = true
      }
    }
    await using flowing = await startFakeProduct({
      query: { streamQuery: async () => ({ head: { columns: [] }, frames: endless() }) },
    })
    const response = await begin({ query: 'SELECT 1' }, {}, flowing.url + path)
    response.destroy()
    await expect.poll(() => seen.stopped, { timeout: 5_000, interval: 5 }).toBe(true)
  })
})

describe('a run', () => {
  const cancel = async (id: string) => fetch(`${product.url}${path}/${id}`, { method: 'DELETE' })

  it('is cancelled by the id that its caller chose', async () => {
    expect(await (await cancel('mine')).json()).toEqual({
      success: true,
      data: { cancelled: true },
      metadata: { host: 'analytics' },
    })
  })

  it.each([
    ['other', 404],
    ['a%20b', 400],
    ['mine?hostId=7', 404],
  ])('%s returns %d', async (id, status) => {
    expect((await cancel(id)).status).toBe(status)
  })
})
