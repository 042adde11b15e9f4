import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from './client.ts'
import { readRows } from './rows.ts'

const parts = 50_000
const partText = 'x'.repeat(1_000)
const bytes = 50_000_000

const row = JSON.stringify([1, partText])
const document = { columns: [{ name: 'n', type: 'UInt8' }], rows: '' }
const bodies = {
  lines: () => repeat('', `${JSON.stringify({ a: partText })}\n`, ''),
  events: () => repeat('', `id: 1\ndata: ${partText}\n\n`, ''),
  rows: () =>
    repeat(
      `{"success":true,"data":${JSON.stringify(document).replace('""}', '[')}`,
      `${row},`,
      `${row}]},"metadata":{"rows":${parts + 1}}}`,
    ),
}

function* repeat(opening: string, part: string, closing: string): Generator<string> {
  yield opening
  for (let sent = 0; sent < parts; sent += 100) yield part.repeat(100)
  yield closing
}

const send = (response: ServerResponse, kind: keyof typeof bodies): Promise<void> => {
  const type = { lines: 'application/x-ndjson', events: 'text/event-stream', rows: 'application/json' }[kind]
  response.setHeader('content-type', type)
  return pipeline(Readable.from(bodies[kind]()), response).catch(() => undefined)
}

/** How many responses the client closed before their end. */
let closed = 0
const server = createServer((request, response) => {
  response.once('close', () => (closed += response.writableFinished ? 0 : 1))
  void (async () => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    if (text.includes('broken')) {
      response.write('{"success":true,"data":{"columns":[],"rows":[[1],')
      setImmediate(() => response.destroy())
    } else if (request.method === 'GET') await send(response, 'events')
    else await send(response, text.includes('jsoneachrow') ? 'lines' : 'rows')
  })()
})
let url: string
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // The address of a server that listens on a port is an object.
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const measureHeap = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

/** Reads all parts. Returns their number and the largest growth of the heap, in bytes, at ten moments of the stream. */
const consume = async (stream: AsyncIterable<unknown>): Promise<{ count: number; growth: number }> => {
  const before = measureHeap()
  let [count, growth] = [0, 0]
  for await (const _part of stream) {
    count += 1
    if (count % (parts / 10) === 0) growth = Math.max(growth, measureHeap() - before)
  }
  return { count, growth }
}

describe('a stream of 50 MB', { tags: ['long'] }, () => {
  const body = { query: 'SELECT 1' }
  const streams = {
    lines: () =>
      createClient({ url }).lines('POST /api/v1/explorer/query', { body: { ...body, format: 'jsoneachrow' } }),
    events: () => createClient({ url }).events('GET /api/v1/agent/{id}/stream', { path: { id: 'run' } }),
    rows: async () => (await createClient({ url }).rows('POST /api/v1/explorer/query', { body })).rows,
  }

  it.each([
    ['lines', parts],
    ['events', parts],
    ['rows', parts + 1],
  ] as const)('of %s needs less than a fifth of it', async (kind, expected) => {
    const { count, growth } = await consume(await streams[kind]())
    expect(count).toBe(expected)
    expect(growth).toBeLessThan(bytes / 5)
  })

  it('needs all of it as a whole', async () => {
    const before = measureHeap()
    const { data } = await createClient({ url }).call('POST /api/v1/explorer/query', { body })
    expect(measureHeap() - before).toBeGreaterThan(bytes)
    expect(data.rows).toHaveLength(parts + 1)
  })
})

describe('a stream', () => {
  it('is closed when the consumer stops or aborts', async () => {
    const client = createClient({ url })
    const body = { query: 'SELECT 1' }
    const before = closed
    for await (const { data } of client.events('GET /api/v1/agent/{id}/stream', { path: { id: 'run' } })) {
      expect(data).toBe(partText)
      break
    }
    const { rows } = await client.rows('POST /api/v1/explorer/query', { body })
    for await (const values of rows) {
      expect(values).toEqual([1, partText])
      break
    }
    const caller = new AbortController()
    const lines = client.lines('POST /api/v1/explorer/query', {
      body: { ...body, format: 'jsoneachrow' },
      signal: caller.signal,
    })
    await lines.next()
    caller.abort(new Error('enough'))
    await expect(Array.fromAsync(lines)).rejects.toThrow('enough')
    await expect.poll(() => closed - before).toBe(3)
  })

  it('that ends early is a failure, after the rows that arrived', async () => {
    const { rows } = await createClient({ url }).rows('POST /api/v1/explorer/query', { body: { query: 'broken' } })
    expect((await rows.next()).value).toEqual([1])
    await expect(rows.next()).rejects.toMatchObject({ code: 'incomplete-response', isUnreachable: false })
  })
})

describe('rows', () => {
  const respond = (pieces: readonly string[]) =>
    new Response(ReadableStream.from(pieces.map((text) => new TextEncoder().encode(text))), {
      headers: { 'content-type': 'application/json' },
    })

  it('are the same for all contents and chunks', async () => {
    const value = fc.oneof(fc.string(), fc.double({ noNaN: true }), fc.constant(null), fc.array(fc.string()), fc.json())
    const data = fc.record({ columns: fc.array(fc.record({ name: fc.string() })), rows: fc.array(fc.array(value)) })
    await fc.assert(
      fc.asyncProperty(data, fc.array(fc.nat()), async ({ columns, rows }, cuts) => {
        const metadata = { rows: rows.length }
        const text = JSON.stringify({ success: true, data: { columns, rows }, metadata })
        const places = [0, ...cuts.map((cut) => cut % text.length), text.length].toSorted((a, b) => a - b)
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end))
        const stream = await readRows<'POST /api/v1/explorer/query'>(respond(pieces))
        expect(stream.columns).toEqual(JSON.parse(JSON.stringify(columns)))
        expect(await Array.fromAsync(stream.rows)).toEqual(JSON.parse(JSON.stringify(rows)))
        expect(stream.metadata()).toEqual(metadata)
      }),
    )
  })

  it.each([
    ['a page', '<html>'],
    ['another document', '{"success":true,"data":[]}'],
    ['a document without end', '{"success":true,"data":{"columns":[],"rows":[[1],'],
  ])('reject %s', async (_name, text) => {
    const read = async () => {
      const { rows } = await readRows<'POST /api/v1/explorer/query'>(respond([text]))
      return await Array.fromAsync(rows)
    }
    await expect(read()).rejects.toMatchObject({ code: 'invalid-response' })
  })
})
