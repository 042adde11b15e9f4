import { describe, expect, it } from 'vitest'
import { reserveFreePort } from '../testing/servers/port.ts'
import { type ClientOptions, createClient } from './client.ts'
import { RequestError } from './failure.ts'

interface Sent {
  address: string
  init: RequestInit
}

/** A client that receives the given responses, one per request, and records what it sends and how long it waits. */
const createFake = (
  responses: readonly (() => Response | Promise<Response>)[],
  options: Partial<ClientOptions> = {},
) => {
  const sent: Sent[] = []
  const waits: number[] = []
  const send = async (address: unknown, init: RequestInit = {}) => {
    sent.push({ address: String(address), init })
    init.signal?.throwIfAborted()
    const next = responses[Math.min(sent.length, responses.length) - 1]
    if (!next) throw new Error('no response is prepared')
    return await next()
  }
  const client = createClient({
    url: 'http://server.test/',
    fetch: send,
    wait: async (ms) => void waits.push(ms),
    ...options,
  })
  return { client, sent, waits }
}

const ok = () => Response.json({ success: true, data: [], metadata: {} })
const refuse =
  (status: number, type: string, headers: Record<string, string> = {}) =>
  () =>
    Response.json(
      {
        success: false,
        error: { type, message: `it is ${type}`, details: { parameter: 'hostId' } },
        metadata: { requestId: 'r1' },
      },
      { status, headers },
    )
const failureOf = async (request: Promise<unknown>): Promise<RequestError> => {
  const error = await request.catch((thrown: unknown) => thrown)
  if (!(error instanceof RequestError)) throw new Error(`not a request error: ${String(error)}`)
  return error
}

describe('a call', () => {
  it('fills path and query, and sends key and body', async () => {
    const { client, sent } = createFake([ok], { apiKey: 'svc_a.b', headers: { 'user-agent': 'test' } })
    await client.call('GET /api/v1/charts/{name}', { path: { name: 'a/b' }, query: { hostId: 2, lastMinutes: null } })
    await client.call('POST /api/v1/explorer/query', { body: { query: 'SELECT 1', hostId: 1 } })
    expect(sent.map(({ address, init: { method, body } }) => [method, address, body])).toEqual([
      ['GET', 'http://server.test/api/v1/charts/a%2Fb?hostId=2', undefined],
      ['POST', 'http://server.test/api/v1/explorer/query', '{"query":"SELECT 1","hostId":1}'],
    ])
    expect(sent[1]?.init.headers).toMatchObject({
      authorization: 'Bearer svc_a.b',
      'content-type': 'application/json',
      'user-agent': 'test',
    })
    expect(sent[0]?.init.headers).not.toHaveProperty('content-type')
  })

  it('returns text as it is, and nothing for an empty response', async () => {
    const { client } = createFake([() => new Response('a 1\n'), () => new Response(null, { status: 204 })])
    expect(await client.call('GET /api/v1/metrics')).toBe('a 1\n')
    expect(await client.call('GET /api/v1/metrics')).toBeUndefined()
  })
})

describe('a failed call', () => {
  it('has code, message, details and request id of the service', async () => {
    const { client } = createFake([refuse(400, 'invalid')])
    expect(await failureOf(client.call('GET /api/v1/hosts'))).toMatchObject({
      status: 400,
      code: 'invalid',
      message: 'it is invalid',
      details: { parameter: 'hostId' },
      requestId: 'r1',
      isUnreachable: false,
    })
  })

  it('has the type of OAuth errors and of newer releases', async () => {
    const oauth = () => Response.json({ error: 'slow_down', error_description: 'too fast' }, { status: 400 })
    const { client } = createFake([oauth, refuse(409, 'brand-new')])
    const body = { grant_type: 'device_code' }
    expect(await failureOf(client.call('POST /auth/token', { body }))).toMatchObject({
      type: 'slow_down',
      code: 'unknown',
      message: 'too fast',
    })
    expect(await failureOf(client.call('GET /api/v1/hosts'))).toMatchObject({ type: 'brand-new', code: 'unknown' })
  })

  it('states status and request id if the body is not that of the service', async () => {
    const page = () => new Response('<html>', { status: 500, statusText: 'Oops', headers: { 'x-request-id': 'r2' } })
    const garbage = () => new Response('{', { headers: { 'content-type': 'application/json' } })
    const { client } = createFake([page, garbage])
    expect(await failureOf(client.call('GET /api/v1/hosts'))).toMatchObject({
      message: 'the service responded with 500 Oops',
      requestId: 'r2',
    })
    expect(await failureOf(client.call('GET /api/v1/hosts'))).toMatchObject({ code: 'invalid-response' })
  })

  it('names host and port of a server that cannot be reached, but no credentials', async () => {
    const port = await reserveFreePort()
    const client = createClient({ url: `http://127.0.0.1:${port}`, apiKey: 'svc_secret.x', retry: { maxRetries: 0 } })
    const failure = await failureOf(client.call('GET /api/v1/hosts', { headers: { 'x-test': 'secret' } }))
    expect(failure).toMatchObject({ status: 0, code: 'unreachable', isUnreachable: true })
    expect(failure.message).toBe(`127.0.0.1:${port}: nothing listens on this port`)
  })

  it('ends after the time limit', async () => {
    const never = () => new Promise<Response>(() => undefined)
    const send = (_address: unknown, init: RequestInit = {}) =>
      Promise.race([
        never(),
        new Promise<Response>((_, reject) =>
          init.signal?.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
      ])
    const client = createClient({ url: 'http://server.test', fetch: send, timeoutMs: 10, retry: { maxRetries: 0 } })
    expect(await failureOf(client.call('GET /api/v1/hosts'))).toMatchObject({ code: 'no-response' })
  })
})

describe('retries', () => {
  it('repeat requests without a second effect, and wait for the delay of the service', async () => {
    const busy = refuse(503, 'busy', { 'retry-after': '2' })
    const { client, sent, waits } = createFake([busy, refuse(429, 'rate-limited'), ok])
    await client.call('GET /api/v1/hosts')
    expect(sent).toHaveLength(3)
    expect(waits[0]).toBeGreaterThanOrEqual(2_000)
    expect(waits[0]).toBeLessThanOrEqual(2_500)
    // Without the header: random between half and all of twice the first delay.
    expect(waits[1]).toBeGreaterThanOrEqual(300)
    expect(waits[1]).toBeLessThanOrEqual(600)
  })

  it('never repeat a POST, unless a key identifies it', async () => {
    const body = { query: 'SELECT 1' }
    const plain = createFake([refuse(503, 'busy'), ok])
    await failureOf(plain.client.call('POST /api/v1/explorer/query', { body }))
    expect(plain.sent).toHaveLength(1)
    const identified = createFake([refuse(503, 'busy'), ok])
    await identified.client.call('POST /api/v1/explorer/query', { body, headers: { 'Idempotency-Key': 'k' } })
    expect(identified.sent).toHaveLength(2)
  })

  it.each([
    ['an error of the caller', refuse(404, 'not-found'), 1],
    ['a defect', refuse(500, 'internal'), 1],
    ['a delay that is too long', refuse(429, 'rate-limited', { 'retry-after': '60' }), 1],
    ['a failure that lasts', refuse(503, 'busy'), 4],
  ])('end with %s', async (_name, response, attempts) => {
    const { client, sent } = createFake([response])
    await failureOf(client.call('GET /api/v1/hosts'))
    expect(sent).toHaveLength(attempts)
  })

  it('end when the caller aborts, with its reason', async () => {
    const caller = new AbortController()
    const { client, sent } = createFake([refuse(503, 'busy')], {
      wait: async () => {
        caller.abort(new Error('enough'))
      },
    })
    await expect(client.call('GET /api/v1/hosts', { signal: caller.signal })).rejects.toThrow('enough')
    expect(sent).toHaveLength(2)
  })
})

describe('streams', () => {
  const streamOf = (...pieces: string[]) =>
    new Response(ReadableStream.from(pieces.map((text) => new TextEncoder().encode(text))))

  it('yield lines and events regardless of chunks', async () => {
    const { client } = createFake([
      () => streamOf('{"a":1}\n{"b"', ':2}\n\n{"c":3}'),
      () => streamOf('id: 7\nda', 'ta: x\n\n'),
    ])
    const body = { query: 'SELECT 1', format: 'jsoneachrow' } as const
    expect(await Array.fromAsync(client.lines('POST /api/v1/explorer/query', { body }))).toEqual([
      '{"a":1}',
      '{"b":2}',
      '{"c":3}',
    ])
    expect(await Array.fromAsync(client.events('GET /api/v1/agent/{id}/stream', { path: { id: 'r' } }))).toEqual([
      { id: 7, data: 'x' },
    ])
  })

  it('yield the entries of all pages, with the parameter of the route', async () => {
    const page = (data: readonly unknown[], metadata: object) => () => Response.json({ success: true, data, metadata })
    const rows = createFake([page([{ a: 1 }], { nextCursor: 'n1' }), page([{ a: 2 }], { nextCursor: null })])
    const query = new URLSearchParams([
      ['filter', 'a.eq.1'],
      ['filter', 'b.eq.2'],
    ])
    const path = { name: 'errors' }
    expect(await Array.fromAsync(rows.client.pages('GET /api/v1/tables/{name}', { path, query }))).toEqual([
      { a: 1 },
      { a: 2 },
    ])
    expect(rows.sent[1]?.address).toBe('http://server.test/api/v1/tables/errors?filter=a.eq.1&filter=b.eq.2&cursor=n1')

    const records = createFake([page([{ id: 'x' }], { next: 5 }), page([], { next: null })])
    expect(await Array.fromAsync(records.client.pages('GET /api/v1/audit', { query: { limit: 1 } }))).toHaveLength(1)
    expect(records.sent[1]?.address).toBe('http://server.test/api/v1/audit?limit=1&before=5')
  })

  it('request no further page if the consumer stops', async () => {
    const { client, sent } = createFake([
      () => Response.json({ success: true, data: [{ a: 1 }], metadata: { nextCursor: 'n' } }),
    ])
    for await (const row of client.pages('GET /api/v1/tables/{name}', { path: { name: 'errors' }, query: {} })) {
      expect(row).toEqual({ a: 1 })
      break
    }
    expect(sent).toHaveLength(1)
  })
})
