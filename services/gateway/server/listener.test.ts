import { once } from 'node:events'
import { Agent, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { Failure } from '#proto/http/answer.ts'
import { rowsOf, statement, tableInfo } from '../testing/query.ts'
import { type FakeProduct, startFake } from '../testing/start.ts'
import { listen } from './listener.ts'

const held = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { released: promise, release: resolve }
}

const begin = (product: FakeProduct, path: string, agent?: Agent) => {
  const asked = request(product.url + path, agent ? { agent } : {}).end()
  return async () => {
    // The event `response` of a client request has its message as only argument.
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return { status: response.statusCode, connection: response.headers.connection, body: await text(response) }
  }
}

const heardOf = async (product: FakeProduct, method: string): Promise<void> =>
  expect.poll(() => product.heard.some((heard) => heard.method === method), { timeout: 5_000, interval: 5 }).toBe(true)

const bareConversation = async (product: FakeProduct, sent: string): Promise<string> => {
  const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
  socket.write(sent)
  return text(socket)
}

describe('a stop', () => {
  it('finishes the answers in flight, rows too, and takes no new connection', async () => {
    const gate = held()
    async function* slowRows() {
      yield rowsOf({ a: 1 })
      await gate.released
      yield rowsOf({ a: 2 })
      return { truncated: false, statement }
    }
    await using product = await startFake({
      query: {
        databaseTables: async () => {
          await gate.released
          return []
        },
        table: async () => ({ head: { table: tableInfo, limit: 1, unavailable: null }, frames: slowRows() }),
      },
    })
    const list = begin(product, '/api/v1/tables')()
    const rows = begin(product, '/api/v1/tables/running-queries')()
    await Promise.all([heardOf(product, 'databaseTables'), heardOf(product, 'table')])

    const stopped = product.stop()
    expect(product.unmetNeeds()).toEqual(['http'])
    const knock = () => begin(product, '/api/health')().then(String, ({ code }: { code?: string }) => code)
    await expect.poll(knock, { interval: 5 }).toBe('ECONNREFUSED')
    gate.release()
    expect(await list).toMatchObject({ status: 200 })
    expect(JSON.parse((await rows).body)).toMatchObject({ data: [{ a: 1 }, { a: 2 }] })
    await stopped
  })

  it('answers what still arrives on a kept connection and then hangs up', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await using product = await startFake()
    await begin(product, '/api/health', agent)()
    const stopped = product.stop()
    const last = await begin(product, '/api/health', agent)()
    expect(last).toMatchObject({ status: 200, connection: 'close' })
    await stopped
    agent.destroy()
  })

  it('answers those too who have connected and wait to be let in', async () => {
    await using product = await startFake({ env: { SHUTDOWN_GRACE_MS: '20000' } })
    const waiting = Array.from({ length: 40 }, () => begin(product, '/api/health')())
    const stopped = product.stop()
    const answers = await Promise.all(waiting)
    expect(answers.map(({ status, connection }) => [status, connection])).toEqual(
      Array.from({ length: 40 }, () => [200, 'close']),
    )
    await stopped
  })

  it('sends an answer whole to a slow reader, however long ago it has ended', async () => {
    // More than socket buffers take.
    const body = Buffer.alloc(20_000_000, 'a')
    const lengths = { graceMs: 20_000, stalledAfterMs: 60_000 }
    const answerWith = (sent: Buffer | string) =>
      listen((_, response) => response.end(sent), { port: 0, host: '127.0.0.1', ...lengths })
    const agent = new Agent({ keepAlive: true })
    const responseOf = async ({ url }: { url: string }) => {
      // The event `response` of a client request has its message as only argument.
      const [response] = (await once(request(url, { agent }).end(), 'response')) as [IncomingMessage]
      return response
    }
    const [listener, other] = await Promise.all([answerWith(body), answerWith('a')])
    const response = await responseOf(listener)
    await text(await responseOf(other))

    const stopped = listener[Symbol.asyncDispose]()
    // Stopped after the first, it has closed what is idle only after the first could have done so.
    await other[Symbol.asyncDispose]()
    expect(await text(response)).toHaveLength(body.length)
    await stopped
    agent.destroy()
  })

  it('ends at once when connections are only kept open', async () => {
    const agent = new Agent({ keepAlive: true })
    await using product = await startFake()
    await begin(product, '/api/health', agent)()
    const startedAt = performance.now()
    await product.stop()
    expect(performance.now() - startedAt).toBeLessThan(1_500)
    agent.destroy()
  })

  it('ends at once when connections have been opened ahead of any request', async () => {
    await using product = await startFake({ env: { SHUTDOWN_GRACE_MS: '60000' } })
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    await once(socket, 'connect')
    await begin(product, '/api/health')()
    const startedAt = performance.now()
    await product.stop()
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    socket.destroy()
  })

  it('cuts what does not end within its grace', async () => {
    await using product = await startFake({
      env: { SHUTDOWN_GRACE_MS: '500' },
      query: {
        databaseTables: async (_input, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    })
    const endless = begin(product, '/api/v1/tables')()
    await heardOf(product, 'databaseTables')
    const [cut] = await Promise.allSettled([endless, product.stop()])
    expect(cut.status).toBe('rejected')
  })
})

describe('a caller who stops reading', () => {
  // Twenty megabytes, which no socket buffer takes.
  const table = 'orders'.padEnd(20_000, '_')
  const many = Array.from({ length: 1_000 }, () => ({ database: 'shop', table, engine: 'Log' }))

  it('loses its connection, so that the answer does not stay in memory', async () => {
    await using product = await startFake({
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

describe('more requests at once than memory allows', () => {
  const allowed = 1_024

  it('are told to come back, and those before them are answered', async () => {
    const gate = held()
    await using product = await startFake({
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

describe('a caller who sends slowly', () => {
  it.each([
    ['its head', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\n'],
    ['its body', 'POST /api/v1/charts/batch HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n{'],
  ])('%s is told so and loses its connection', async (_what, beginning) => {
    const lengths = { graceMs: 1_000, stalledAfterMs: 60_000, headersWithinMs: 100, requestWithinMs: 200 }
    await using listener = await listen((request) => request.resume(), { port: 0, host: '127.0.0.1', ...lengths })
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1')
    socket.write(beginning)
    const answer = await text(socket)
    expect(answer).toContain('HTTP/1.1 408 Request Timeout\r\n')
    expect(Failure.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).error.type).toBe('timeout')
  })
})

describe('a start', () => {
  it('says in words that its port is taken', async () => {
    await using product = await startFake()
    await expect(startFake({ env: { PORT: new URL(product.url).port } })).rejects.toThrow('is taken by another process')
  })
})

describe('bytes that are no request', () => {
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
      'two lengths',
      'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
      '400 Bad Request',
    ],
  ])('%s is answered in the shape of every error', async (_what, sent, status) => {
    await using product = await startFake()
    const answer = await bareConversation(product, sent)
    expect(answer).toContain(`HTTP/1.1 ${status}\r\n`)
    const body = answer.slice(answer.indexOf('\r\n\r\n') + 4)
    expect(JSON.parse(body)).toMatchObject({ success: false, error: { message: expect.any(String) } })
    expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
  })

  it.each([
    ['no Host', 'GET /api/health HTTP/1.1\r\n', 400, 'the Host header is missing'],
    ['two Hosts', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nHOST: b\r\n', 400, 'host may be given only once'],
    [
      'two credentials',
      'GET /api/v1/hosts HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer hush1\r\nauthorization: Bearer hush2\r\n',
      400,
      'authorization may be given only once',
    ],
    ['another site', 'GET http://example.com/api/health HTTP/1.1\r\nhost: localhost\r\n', 400, 'must be a path'],
    ['no path', 'GET * HTTP/1.1\r\nhost: localhost\r\n', 400, 'must be a path'],
    ['a fragment', 'GET /api\\v1/hosts# HTTP/1.1\r\nhost: localhost\r\n', 400, 'must be a path'],
    ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nhost: localhost\r\n', 400, 'CONNECT is for proxies'],
    [
      '101 headers',
      `GET /api/health HTTP/1.1\r\nhost: localhost\r\n${'x: 1\r\n'.repeat(99)}`,
      431,
      'more than 100 header fields',
    ],
    [
      'an odd method',
      'PROPFIND /api/health HTTP/1.1\r\nhost: localhost\r\n',
      405,
      'this path knows GET, HEAD, OPTIONS',
    ],
    ['no UTF-8 in its path', 'GET /api/v1/tables/%ff HTTP/1.1\r\nhost: localhost\r\n', 400, 'cannot be read'],
    [
      'a body of two lengths',
      'POST /api/v1/charts/batch HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n',
      400,
      'no request that HTTP/1.1 allows',
    ],
  ])('a request with %s is refused in the same shape', async (_what, head, status, says) => {
    await using product = await startFake()
    const answer = await bareConversation(product, `${head}connection: close\r\n\r\n`)
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    const { error } = Failure.parse(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)))
    expect(error.message).toContain(says)
    expect(product.logged.join('')).not.toContain('hush')
    expect((await fetch(`${product.url}/api/health`)).status).toBe(200)
  })

  it.each(['http://localhost/api/v1/held', 'HTTPS://localhost/api/v1/held', '/api\\v1/held#', '/api/v1/held#fragment'])(
    'the target %s never reaches the application, which would take it for another path than admission does',
    async (target) => {
      const seen: unknown[] = []
      const application = (asked: IncomingMessage, response: ServerResponse) => {
        seen.push(asked.url)
        response.end()
      }
      await using listener = await listen(application, {
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
    ['no Host, of a client from before there were', 'GET /api/health HTTP/1.0\r\n'],
    ['an expectation nobody knows', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nexpect: wonders\r\n'],
    ['the wish for another protocol', 'GET /api/health HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n'],
  ])('a request with %s is answered all the same', async (_what, head) => {
    await using product = await startFake()
    expect(await bareConversation(product, `${head}connection: close\r\n\r\n`)).toContain('HTTP/1.1 200 OK')
  })

  it('hangs up on a connection that was answered before', async () => {
    await using product = await startFake()
    const socket = connect(Number(new URL(product.url).port), '127.0.0.1')
    socket.write('GET /api/health HTTP/1.1\r\nhost: localhost\r\n\r\n')
    await once(socket, 'data')
    socket.write('hello\r\n\r\n')
    expect(await text(socket)).toBe('')
  })
})
