import { createClock } from '#shared/time/clock.ts'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { TableResponse } from '#proto/http/data.ts'
import { ServiceError } from '#proto/errors.ts'
import { sampleTableInfo } from '../testing/query.ts'
import { startFakeProduct } from '../testing/fake-product.ts'

const path = '/api/v1/tables/running-queries'
const head = { table: sampleTableInfo, limit: 100, unavailable: null }

const read = async (url: string, headers: Record<string, string> = {}) => {
  const requests = request(url, { headers }).end()
  // The event `response` of a client request has its message as only argument.
  const [response] = (await once(requests, 'response')) as [IncomingMessage]
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += String(part)
  return { status: response.statusCode, headers: response.headers, trailers: response.trailers, text }
}

describe('a table page as a file', () => {
  it.each([
    ['csv', 'text/csv', 'csv'],
    ['tsv', 'text/tab-separated-values', 'tsv'],
    ['jsoneachrow', 'application/x-ndjson', 'jsonl'],
  ])('has a name, and trailers with rows and truncation: %s', async (format, type, extension) => {
    await using product = await startFakeProduct({ clock: createClock(() => Date.UTC(2026, 0, 2, 3, 4, 5)) })
    for (const requests of [
      await read(`${product.url}${path}?format=${format}`),
      await read(product.url + path, { accept: type }),
    ]) {
      expect([requests.status, requests.text]).toEqual([200, '"elapsed"\n1\n2\n'])
      expect(requests.headers['content-type']).toContain(type)
      expect(requests.headers['content-disposition']).toBe(
        `attachment; filename="running-queries-analytics-20260102-030405.${extension}"`,
      )
      expect(requests.trailers).toEqual({ 'x-result-rows': '2', 'x-result-truncated': 'false' })
    }
  })

  it('supports HEAD, without trailers', async () => {
    await using product = await startFakeProduct()
    const { status, headers } = await fetch(`${product.url}${path}?format=csv`, { method: 'HEAD' })
    expect([status, headers.get('content-type'), headers.get('trailer')]).toEqual([
      200,
      expect.stringContaining('text/csv'),
      null,
    ])
    expect((await fetch(product.url + path)).status).toBe(200)
  })

  it.each([
    ['format=json', { accept: 'text/csv' }],
    ['', { accept: '*/*' }],
    ['', { accept: 'text/html' }],
    ['', { accept: 'application/json, text/csv' }],
  ])('is not returned for %j %j', async (parameters, headers) => {
    await using product = await startFakeProduct()
    const { text, headers: answered } = await read(`${product.url}${path}?${parameters}`, headers)
    expect(answered['content-disposition']).toBeUndefined()
    expect(TableResponse.parse(JSON.parse(text)).data).toHaveLength(2)
  })

  it.each(['br', 'gzip', 'identity'])('arrives unchanged at any length as %s', async (encoding) => {
    async function* frames() {
      for (let number = 0; number < 60; number++) yield Buffer.alloc(50_000 + 3_000 * number, `${number}\n`)
      return { truncated: false, rows: 60 }
    }
    await using product = await startFakeProduct({ query: { exportTable: async () => ({ head, frames: frames() }) } })
    const answer = await fetch(`${product.url}${path}?format=csv`, { headers: { 'accept-encoding': encoding } })
    const sent: Uint8Array[] = await Array.fromAsync(frames())
    expect(Buffer.concat(sent).equals(await answer.bytes())).toBe(true)
  })

  it('is the JSON response when the table is unavailable', async () => {
    const unavailable = { reason: 'missing-table' as const, message: 'no merges', missingTables: ['system.merges'] }
    async function* none() {
      yield* []
      return { truncated: false, rows: 0 }
    }
    await using product = await startFakeProduct({
      query: { exportTable: async () => ({ head: { ...head, unavailable }, frames: none() }) },
    })
    const { text, headers } = await read(`${product.url}${path}?format=csv`)
    expect(headers['content-type']).toBe('application/json')
    expect(TableResponse.parse(JSON.parse(text)).metadata.unavailable).toEqual(unavailable)
  })

  it('is aborted when the host fails, and cancels the statement when the client disconnects', async () => {
    const seen = { produced: 0, stopped: false }
    async function* frames(isFailing: boolean) {
      try {
        for (; seen.produced < 10_000; seen.produced++) {
          if (isFailing && seen.produced > 20) throw new ServiceError('unavailable', 'host analytics went away')
          yield Buffer.alloc(100_000, '1\n')
        }
        return { truncated: false, rows: 1 }
      } finally {
        seen.stopped = true
      }
    }
    await using failing = await startFakeProduct({
      query: { exportTable: async () => ({ head, frames: frames(true) }) },
    })
    await expect(read(`${failing.url}${path}?format=csv`)).rejects.toThrow()
    Object.assign(seen, { produced: 0, stopped: false })
    await using product = await startFakeProduct({
      query: { exportTable: async () => ({ head, frames: frames(false) }) },
    })
    const requests = request(`${product.url}${path}?format=csv`).end()
    // The event `response` of a client request has its message as only argument.
    const [response] = (await once(requests, 'response')) as [IncomingMessage]
    response.destroy()
    await expect.poll(() => seen.stopped, { timeout: 5_000, interval: 5 }).toBe(true)
    expect(seen.produced).toBeLessThan(1_000)
  })
})
