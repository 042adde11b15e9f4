import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { ErrorResponse } from '#proto/http/response.ts'
import { encodeRows, sampleStatement, sampleTableInfo } from '../testing/query.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'
import { startListener } from './listener.ts'

const held = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { released: promise, release: resolve }
}

const begin = (product: FakeProduct, path: string, agent?: Agent) => {
  const sent = request(product.url + path, agent ? { agent } : {}).end()
  return async () => {
    // The `response` event of a client request has one argument, the message.
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode, connection: response.headers.connection, body: await text(response) }
  }
}

const requestReceived = async (product: FakeProduct, method: string): Promise<void> =>
  expect
    .poll(() => product.received.some((received) => received.method === method), { timeout: 5_000, interval: 5 })
    .toBe(true)

const bareConversation = async (product: FakeProduct, sent: string): Promise<string> => {
  const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
  socket.write(sent)
  return text(socket)
}

describe('a stop', () => {
  it('finishes responses in flight, streams included, and rejects new connections', async () => {
    const gate = held()
    async function* slowRows() {
      yield encodeRows({ a: 1 })
      await gate.released
      yield encodeRows({ a: 2 })
      return { truncated: false, statement: sampleStatement }
    }
    await using product = await startFakeProduct({
      query: {
        databaseTables: async () => {
          await gate.released
          return []
        },
        table: async () => ({ head: { table: sampleTableInfo, limit: 1, unavailable: null }, frames: slowRows() }),
      },
    })
    const list = begin(product, '/api/v1/tables')()
    const rows = begin(product, '/api/v1/tables/running-queries')()
    await Promise.all([requestReceived(product, 'databaseTables'), requestReceived(product, 'table')])

    const stopped = product.stop()
    expect(product.unmetNeeds()).toEqual(['http'])
    const knock = () => begin(product, '/api/health')().then(String, ({ code }: { code?: string }) => code)
    await expect.poll(knock, { interval: 5 }).toBe('ECONNREFUSED')
    gate.release()
    expect(await list).toMatchObject({ status: 200 })
    expect(JSON.parse((await rows).body)).toMatchObject({ data: [{ a: 1 }, { a: 2 }] })
    await stopped
  })

  it('serves a request that arrives on a keep-alive connection, then closes it', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await using product = await startFakeProduct()
    await begin(product, '/api/health', agent)()
    const stopped = product.stop()
    const last = await begin(product, '/api/health', agent)()
    expect(last).toMatchObject({ status: 200, connection: 'close' })
    await stopped
    agent.destroy()
  })

  it('serves connections that are not accepted yet', async () => {
    await using product = await startFakeProduct({ env: { SHUTDOWN_GRACE_MS: '20000' } })
    const waiting = Array.from({ length: 40 }, () => begin(product, '/api/health')())
    const stopped = product.stop()
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status, connection }) => [status, connection])).toEqual(
      Array.from({ length: 40 }, () => [200, 'close']),
    )
    await stopped
  })

  it('sends the complete response to a slow reader', async () => {
    // Larger than the socket buffers, so that the response cannot be sent at once.
    const body = Buffer.alloc(20_000_000, 'a')
    const lengths = { graceMs: 20_000, stalledAfterMs: 60_000 }
    const answerWith = (sent: Buffer | string) =>
      startListener((_, response) => response.end(sent), { port: 0, host: '127.0.0.1', ...lengths })
    const agent = new Agent({ keepAlive: true })
    const responseOf = async ({ url }: { url: string }) => {
      // The `response` event of a client request has one argument, the message.
      const [response] = (await once(request(url, { agent }).end(), 'response')) as [IncomingMessage]
      return response
    }
    const [listener, other] = await Promise.all([answerWith(body), answerWith('a')])
    const response = await responseOf(listener)
    await text(await responseOf(other))

    const stopped = listener[Symbol.asyncDispose]()
    // When `other` has closed its idle connection, `listener` has had time to close any that it considers idle.
    await other[Symbol.asyncDispose]()
    expect(await text(response)).toHaveLength(body.length)
    await stopped
    agent.destroy()
  })

  it('ends at once if all connections are idle', async () => {
    const agent = new Agent({ keepAlive: true })
    await using product = await startFakeProduct()
    await begin(product, '/api/health', agent)()
    const startedAt = performance.now()
    await product.stop()
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    agent.destroy()
  })

  it('ends at once if connections were opened without a request', async () => {
    await using product = await startFakeProduct({ env: { SHUTDOWN_GRACE_MS: '60000' } })
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    await once(socket, 'connect')
    await begin(product, '/api/health')()
    const startedAt = performance.now()
    await product.stop()
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    socket.destroy()
  })

  it('aborts responses after the grace period', async () => {
    await using product = await startFakeProduct({
      env: { SHUTDOWN_GRACE_MS: '500' },
      query: {
        databaseTables: async (_input, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    })
    const endless = begin(product, '/api/v1/tables')()
    await requestReceived(product, 'databaseTables')
    const [cut] = await Promise.allSettled([endless, product.stop()])
    expect(cut.status).toBe('rejected')
  })
})

describe('a caller that stops reading', { tags: ['long'] }, () => {
  // Twenty megabytes, more than any socket buffer.
  const table = 'orders'.padEnd(20_000, '_')
  const many = Array.from({ length: 1_000 }, () => ({ database: 'shop', table, engine: 'Log' }))

  it('is disconnected, so that the response is released', async () => {
    await using product = await startFakeProduct({
      env: { SVC_REQUEST_TIMEOUT_MS: '1500' },
      query: { databaseTables: async () => many },
    })
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1').pause()
    socket.write('GET /api/v1/tables HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const inFlight = async () => /^watchhouse_http_in_flight (\d+)$/m.exec(await product.metrics.metrics())?.[1]
    await expect.poll(inFlight, { timeout: 5_000, interval: 10 }).toBe('1')
    await expect.poll(inFlight, { timeout: 10_000, interval: 50 }).toBe('0')
    expect(product.logged.join('')).toContain('"status":499')
    socket.destroy()
  })
})

describe('too many concurrent requests', () => {
  const allowed = 1_024

  it('get 503 with Retry-After, while earlier ones are served', async () => {
    const gate = held()
    await using product = await startFakeProduct({
      query: {
        hosts: async () => {
          await gate.released
          return []
        },
      },
    })
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    socket.write('GET /api/v1/hosts HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(allowed - 1))
    socket.write('GET /api/v1/hosts HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    const inFlight = async () => /^watchhouse_http_in_flight (\d+)$/m.exec(await product.metrics.metrics())?.[1]
    await expect.poll(inFlight, { timeout: 5_000, interval: 10 }).toBe(String(allowed))

    const refused = await fetch(`${product.url}/api/version`)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
    expect(await refused.json()).toMatchObject({ error: { type: 'busy' } })

    gate.release()
    expect((await text(socket)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(allowed)
    expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
  })
})

describe('a slow sender', () => {
  it.each([
    ['headers', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\n'],
    ['a body', 'POST /api/v1/charts/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{'],
  ])('of %s gets 408 and is disconnected', async (_what, beginning) => {
    const lengths = { graceMs: 1_000, stalledAfterMs: 60_000, headersWithinMs: 100, requestWithinMs: 200 }
    await using listener = await startListener((request) => request.resume(), {
      port: 0,
      host: '127.0.0.1',
      ...lengths,
    })
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
    socket.write(beginning)
    const answer = await text(socket)
    expect(answer).toContain('HTTP/1.1 408 Request Timeout\r\n')
    expect(ErrorResponse.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).error.type).toBe('timeout')
  })
})

describe('a start', () => {
  it('reports that the port is in use', async () => {
    await using product = await startFakeProduct()
    await expect(startFakeProduct({ env: { PORT: new URL(product.url).port } })).rejects.toThrow(
      'is already in use by another process',
    )
  })
})

describe('a malformed request', () => {
  it.each([
    ['nonsense', 'hello\r\n\r\n', '400 Bad Request'],
    [
      'an endless header',
      `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
    [
      'an endless path',
      `GET /${'y'.repeat(20_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
    [
      'thousands of headers',
      `GET / HTTP/1.1\r\nhost: localhost\r\n${'a: b\r\n'.repeat(4_000)}\r\n`,
      '431 Request Header Fields Too Large',
    ],
    [
      'two Content-Length headers',
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      '400 Bad Request',
    ],
  ])('with %s gets the usual error body', async (_what, sent, status) => {
    await using product = await startFakeProduct()
    const answer = await bareConversation(product, sent)
    expect(answer).toContain(`HTTP/1.1 ${status}\r\n`)
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { message: expect.any(String) } })
    expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
  })

  it.each([
    ['no Host', 'GET /api/health HTTP/1.1\r\n', 400, 'the Host header is missing'],
    ['two Hosts', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nHOST: b\r\n', 400, '"host" must be sent only once'],
    [
      'two Authorization headers',
      'GET /api/v1/hosts HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer hush1\r\nauthorization: Bearer hush2\r\n',
      400,
      '"authorization" must be sent only once',
    ],
    ['another site', 'GET http://example.com/api/health HTTP/1.1\r\nhost: localhost\r\n', 400, 'must be a path'],
    ['no path', 'GET * HTTP/1.1\r\nhost: localhost\r\n', 400, 'must be a path'],
    ['a fragment', 'GET /api\\v1/hosts# HTTP/1.1\r\nhost: localhost\r\n', 400, 'must be a path'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nhost: localhost\r\n', 400, 'CONNECT is not supported'],
    [
      '101 headers',
      `GET /api/health HTTP/1.1\r\nhost: localhost\r\n${'x: 1\r\n'.repeat(99)}`,
      431,
      'too many header fields: the maximum is 100',
    ],
    [
      'an unsupported method',
      'PROPFIND /api/health HTTP/1.1\r\nhost: localhost\r\n',
      405,
      'method not allowed; allowed: GET, HEAD, OPTIONS',
    ],
    ['a path that is not UTF-8', 'GET /api/v1/tables/%ff HTTP/1.1\r\nhost: localhost\r\n', 400, 'cannot be read'],
    [
      'a chunked body with Content-Length',
      'POST /api/v1/charts/batch HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n',
      400,
      'invalid HTTP/1.1 request',
    ],
  ])('that has %s is rejected with the same body', async (_what, head, status, says) => {
    await using product = await startFakeProduct()
    const answer = await bareConversation(product, `${head}connection: close\r\n\r\n`)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    const { error } = ErrorResponse.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)))
    expect(error.message).toContain(says)
    expect(product.logged.join('')).not.toContain('hush')
    expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
  })

  it.each(['http://localhost/api/v1/held', 'HTTPS://localhost/api/v1/held', '/api\\v1/held#', '/api/v1/held#fragment'])(
    'with target %s never reaches the application, which would read another path than admission',
    async (target) => {
      const seen: unknown[] = []
      const application = (request: IncomingMessage, response: ServerResponse) => {
        seen.push(request.url)
        response.end()
      }
      await using listener = await startListener(application, {
        port: 0,
        host: '127.0.0.1',
        graceMs: 0,
        stalledAfterMs: 1_000,
      })
      const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
      socket.write(`GET ${target} HTTP/1.1\r\nhost: localhost\r\nx-request-id: mine\r\n\r\n`)
      const answer = await text(socket)
      expect(answer).toContain('HTTP/1.1 400 Bad Request\r\n')
      expect(answer).toContain('X-Request-Id: mine\r\n')
      expect(seen).toEqual([])
    },
  )

  it.each([
    ['no Host in HTTP/1.0', 'GET /api/health HTTP/1.0\r\n'],
    ['an unknown expectation', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nexpect: wonders\r\n'],
    ['an upgrade to another protocol', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n'],
  ])('with %s is served as usual', async (_what, head) => {
    await using product = await startFakeProduct()
    expect(await bareConversation(product, `${head}connection: close\r\n\r\n`)).toContain('HTTP/1.1 200 OK')
  })

  it('closes a connection with an earlier response', async () => {
    await using product = await startFakeProduct()
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    socket.write('GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await once(socket, 'data')
    socket.write('hello\r\n\r\n')
    expect(await text(socket)).toBe('')
  })
})
