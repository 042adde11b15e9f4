import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { TableResponse } from '#proto/http/data.ts'
import { ServiceError } from '#proto/errors.ts'
import { encodeRows, sampleStatement, sampleTableInfo } from '../testing/query.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

const head = { table: sampleTableInfo, limit: null, unavailable: null }
const tail = { truncated: true, statement: sampleStatement }
const path = '/api/v1/tables/running-queries'
const frameBytes = 100_000
const row = { text: 'x'.repeat(frameBytes) }

/** Returns a handler that yields frames of 100 kB; counts the produced frames and records cancellation. */
const manyFrames = (count: number) => {
  const seen = { produced: 0, stopped: false }
  async function* frames() {
    try {
      for (; seen.produced < count; seen.produced++) yield encodeRows(row)
      return tail
    } finally {
      seen.stopped = true
    }
  }
  return { seen, table: async () => ({ head, frames: frames() }) }
}

const opened = async (product: FakeProduct): Promise<IncomingMessage> => {
  const requests = request(product.url + path).end()
  // The event `response` of a client request has its message as only argument.
  const [response] = (await once(requests, 'response')) as [IncomingMessage]
  return response
}

/** Waits until the condition holds; fails after five seconds. */
const until = async (holds: () => boolean): Promise<void> =>
  expect.poll(holds, { timeout: 5_000, interval: 5 }).toBe(true)

describe('GET /api/v1/tables/{name}', () => {
  it('returns the rows as the host sent them, with head and tail metadata', async () => {
    await using product = await startFakeProduct()
    const answered = TableResponse.parse(await (await fetch(product.url + path)).json())
    expect(answered.data).toEqual([{ elapsed: 1, text: 'a\nb' }, { elapsed: 2 }])
    expect(answered.metadata).toMatchObject({ table: sampleTableInfo, limit: 100, truncated: false, queryId: 'q1' })
  })

  it.each([
    ['user.in.a,b', ['a', 'b']],
    [String.raw`user.in.a\,b,c`, ['a,b', 'c']],
    [String.raw`user.notIn.corp\ann,\,`, [String.raw`corp\ann`, ',']],
    ['user.between.a,b', ['a', 'b']],
    [String.raw`user.eq.a\,b,c`, [String.raw`a\,b,c`]],
  ])('requests the values of the filter %s', async (filter, values) => {
    const requests: unknown[] = []
    const { table } = manyFrames(0)
    await using product = await startFakeProduct({
      query: {
        table: async ({ filters }) => {
          requests.push(filters)
          return table()
        },
      },
    })
    await (await fetch(`${product.url}${path}?${new URLSearchParams({ filter }).toString()}`)).text()
    expect(requests).toEqual([[{ column: 'user', operator: filter.split('.')[1], values }]])
  })

  it('returns an empty list with the reason when a table is missing', async () => {
    const unavailable = {
      reason: 'missing-table' as const,
      message: 'no query_log',
      missingTables: ['system.query_log'],
    }
    async function* none() {
      yield* []
      return { truncated: false, statement: null }
    }
    await using product = await startFakeProduct({
      query: { table: async () => ({ head: { ...head, unavailable }, frames: none() }) },
    })
    const answered = TableResponse.parse(await (await fetch(product.url + path)).json())
    expect([answered.data, answered.metadata.unavailable]).toEqual([[], unavailable])
  })

  it.each(['br', 'gzip', 'identity'])('forwards more than one frame, as %s', async (encoding) => {
    const { table } = manyFrames(30)
    await using product = await startFakeProduct({ query: { table } })
    const response = await fetch(product.url + path, { headers: { 'accept-encoding': encoding } })
    expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding)
    const answered = TableResponse.parse(await response.json())
    expect(answered.data).toEqual(Array.from({ length: 30 }, () => row))
    expect(answered.metadata.truncated).toBe(true)
  })

  it('responds to HEAD without reading the rows', async () => {
    const { table, seen } = manyFrames(1_000)
    await using product = await startFakeProduct({ query: { table } })
    const response = await fetch(product.url + path, { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([200, ''])
    await until(() => seen.stopped)
    expect(seen.produced).toBeLessThan(50)
  })

  it('reads no faster than its client', { tags: ['long'] }, async () => {
    const { table, seen } = manyFrames(1_000)
    await using product = await startFakeProduct({ query: { table } })
    const response = await opened(product)
    response.pause()
    let before = -1
    // The producer is idle if it produced nothing between two polls.
    await expect.poll(() => before === (before = seen.produced), { timeout: 5_000, interval: 200 }).toBe(true)
    expect(seen.produced).toBeLessThan(200)
    let bytes = 0
    for await (const part of response) bytes += Buffer.byteLength(part)
    expect(bytes).toBeGreaterThan(1_000 * frameBytes)
  })

  it('cancels the statement when its client disconnects', async () => {
    const { table, seen } = manyFrames(100_000)
    await using product = await startFakeProduct({ query: { table } })
    const response = await opened(product)
    response.destroy()
    await until(() => seen.stopped)
    expect(seen.produced).toBeLessThan(1_000)
  })

  it('returns an error status when the statement fails before the first row', async () => {
    async function* failing() {
      yield* []
      if (head.limit === null) throw new ServiceError('timeout', 'host analytics took too long')
      return tail
    }
    await using product = await startFakeProduct({ query: { table: async () => ({ head, frames: failing() }) } })
    const response = await fetch(product.url + path)
    expect(response.status).toBe(504)
    expect(await response.json()).toMatchObject({ error: { type: 'timeout' } })
  })

  it.each(['gzip', 'identity'])(
    'cuts a %s answer that fails halfway, so that it is never taken for whole',
    async (encoding) => {
      async function* breaking() {
        for (let frame = 0; frame < 20; frame++) yield encodeRows(row)
        if (head.limit === null) throw new ServiceError('unavailable', 'host analytics went away')
        return tail
      }
      await using product = await startFakeProduct({ query: { table: async () => ({ head, frames: breaking() }) } })
      const response = await fetch(product.url + path, { headers: { 'accept-encoding': encoding } })
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow()
      expect(product.logged.join('')).not.toContain('"level":"fatal"')
      expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
    },
  )
})
