import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { systemClock } from '#shared/time/clock.ts'
import { validateHostList, type MonitoredHost } from '../hosts/host-list.ts'
import { createCall, createSilentTelemetry } from '../testing/test-service.ts'
import { type StubRequest, sendResultRows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { maxBufferedResponseBytes } from './response.ts'
import { openOfficialClient } from './official-client.ts'
import type { Statement } from './statement.ts'
import { openTransport, type Transport } from './transport.ts'
import { openUndiciPool } from './undici-pool.ts'

const hostAt = (url: string): MonitoredHost => {
  const [host] = validateHostList('COLUMNDB_HOST', [{ url, label: 'db', user: 'spy', password: 'pw-9f3:ü' }]).hosts
  if (!host) throw new Error('invalid host URL in test data')
  return host
}
const transportWith = (env: Record<string, string> = {}): Transport =>
  openTransport({
    env: { COLUMNDB_MAX_EXECUTION_TIME: '1', ...env },
    telemetry: createSilentTelemetry(),
    clock: systemClock,
  })

describe.each([
  ['the pool for hot statements', { hot: true as const }],
  ['the official client', {}],
])('%s', (_, options) => {
  const statement: Statement = { what: 'test', sql: '  SELECT 42;\n', ...options }
  const whole = (transport: Transport, host: MonitoredHost, more: Partial<Statement> = {}) =>
    transport.whole({ host, statement: { ...statement, ...more }, context: createCall(), readonly: 0 })
  const failureAt = async (url: string): Promise<unknown> => {
    await using transport = transportWith()
    return whole(transport, hostAt(url)).catch((error: unknown) => error)
  }

  it('sends the unchanged statement with user, component, limits and parameters', async () => {
    const seen: StubRequest[] = []
    await using stub = await startHttpStub((received, response) => {
      seen.push(received)
      sendResultRows(response, [['42']])
    }, 'none')
    await using transport = transportWith()
    const parameters = { text: "['it''s']\t\\ \n&ü", none: null, yes: true, half: 1.5 }
    const host = hostAt(`${stub.url}/ch/?cluster=a&role=b&role=c`)
    await whole(transport, host, { parameters, database: 'default', session: 's-1', limits: { max_threads: 3 } })
    const [{ sql, url, request }] = seen as [StubRequest]
    expect(sql).toBe(statement.sql)
    expect([request.method, url.pathname]).toEqual(['POST', '/ch/'])
    const credentials = Buffer.from('spy:pw-9f3:ü').toString('base64')
    expect(request.headers).toMatchObject({ 'user-agent': 'watchhouse', authorization: `Basic ${credentials}` })
    expect(request.headers).toMatchObject({ 'content-type': 'text/plain' })
    expect(request.headers).toMatchObject({ 'content-length': String(sql.length) })
    for (const name of ['accept-encoding', 'transfer-encoding']) expect(request.headers).not.toHaveProperty(name)
    expect(url.searchParams.getAll('role')).toEqual(['b', 'c'])
    const { query_id, ...others } = Object.fromEntries(url.searchParams)
    expect(query_id).toMatch(/^watchhouse-[\da-f-]{36}$/)
    expect(others).toEqual({
      cluster: 'a',
      role: 'c',
      default_format: 'JSONCompact',
      database: 'default',
      session_id: 's-1',
      log_comment: '{"watchhouse":"test"}',
      max_execution_time: '1',
      output_format_json_quote_64bit_integers: '1',
      cancel_http_readonly_queries_on_client_close: '1',
      max_threads: '3',
      readonly: '1',
      param_text: String.raw`['it''s']\t\\ \n&ü`,
      param_none: String.raw`\N`,
      param_yes: '1',
      param_half: '1.5',
    })
  })

  it.each([
    ['refuses connections', 'unreachable', 'cannot be reached: nothing listens on its port'],
    ['speaks no TLS', 'unreachable', 'cannot be reached: its port does not speak TLS'],
    ['has an unknown name', 'unreachable', 'cannot be reached: its host name does not resolve'],
    ['hangs', 'timeout', 'did not answer in time'],
    ['speaks no HTTP', 'garbage', 'is not a ClickHouse server'],
    ['sends endless headers', 'garbage', 'is not a ClickHouse server'],
    ['responds with 302', 'garbage', 'is not a ClickHouse server'],
    ['responds with 401', 'refused', 'rejected the configured user or password'],
  ])('reports why a host that %s gave no result', async (behaviour, reason, sentence) => {
    await using stub =
      behaviour === 'responds with 302' || behaviour === 'responds with 401'
        ? await startHttpStub(
            (_request, response) => response.writeHead(Number(behaviour.slice(-3)), { location: '/' }).end('no'),
            'none',
          )
        : await startTcpStub((socket) => {
            if (behaviour === 'speaks no HTTP') socket.end('SSH-2.0-OpenSSH_9.2\r\n')
            else if (behaviour === 'sends endless headers')
              socket.end(`HTTP/1.1 200 OK\r\n${'x-more: 0123456789\r\n'.repeat(10_000)}`)
            else if (behaviour === 'speaks no TLS') socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
            else socket.resume()
          })
    if (behaviour === 'refuses connections') await stub[Symbol.asyncDispose]()
    const urls: Record<string, string> = {
      'speaks no TLS': stub.url.replace('http:', 'https:'),
      'has an unknown name': 'http://nothing.invalid:8123',
    }
    const failure = await failureAt(urls[behaviour] ?? stub.url)
    expect(failure).toMatchObject({ message: `host db ${sentence}`, details: { host: 'db', reason } })
  })

  it('retries a read once when the connection was closed, and never a write', async () => {
    let connections = 0
    await using stub = await startTcpStub((socket) => {
      connections++
      socket.once('data', () => socket.resetAndDestroy())
    })
    const closing = { message: 'host db cannot be reached: it closes its connections' }
    expect(await failureAt(stub.url)).toMatchObject(closing)
    expect(connections).toBe(2)
    await using transport = transportWith()
    await expect(whole(transport, hostAt(stub.url), { writes: true })).rejects.toMatchObject(closing)
    expect(connections).toBe(3)
  })

  it('retries on a new connection, also when the host has closed all idle connections', async () => {
    const used = new WeakSet<object>()
    const arrived: (() => void)[] = []
    await using stub = await startHttpStub(({ sql, request }, response) => {
      if (used.has(request.socket)) request.socket.resetAndDestroy()
      else if (sql.includes('again')) sendResultRows(response, [['43']])
      else {
        used.add(request.socket)
        arrived.push(() => sendResultRows(response, [['42']]))
        if (arrived.length === 3) for (const respond of arrived) respond()
      }
    }, 'none')
    await using transport = transportWith()
    const host = hostAt(stub.url)
    await Promise.all([1, 2, 3].map((index) => whole(transport, host, { sql: `SELECT ${index}` })))
    expect((await whole(transport, host, { sql: 'SELECT again' })).rows).toEqual([['43']])
  })

  it.concurrent.for<[what: string, announced: string | undefined, idleMs: number]>([
    ['the announced time less a margin', 'timeout=7', 5_000],
    ['four seconds without an announced time', undefined, 4_000],
    ['no time when the announced time is within the margin', 'timeout=2, max=10', 0],
  ])('keeps an idle connection for %s', { tags: ['long'] }, async ([, announced, idleMs], { expect }) => {
    await using stub = await startHttpStub((_request, response) => {
      if (announced !== undefined) response.setHeader('keep-alive', announced)
      // Node sends its own `keep-alive` header unless the response has a `connection` header.
      else response.setHeader('connection', 'keep-alive')
      sendResultRows(response, [['42']])
    }, 'none')
    await using transport = transportWith()
    const host = hostAt(stub.url)
    await whole(transport, host)
    const respondedMs = performance.now()
    await expect.poll(() => stub.open, { timeout: 8_000, interval: 20 }).toBe(0)
    const closedMs = performance.now() - respondedMs
    expect(closedMs).toBeGreaterThan(idleMs - 100)
    expect(closedMs).toBeLessThan(idleMs + 1_500)
  })

  it('sends nothing after it is closed and fails the running statements', async () => {
    const seen: string[] = []
    await using stub = await startHttpStub(({ sql }, response) => {
      seen.push(sql)
      if (sql.includes('streamed')) response.write('{"a":1}\n')
    }, 'none')
    const transport = transportWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    const host = hostAt(stub.url)
    const hanging = whole(transport, host).catch((error: unknown) => error)
    const { body } = await transport.stream(
      { host, statement: { ...statement, sql: 'SELECT streamed' }, context: createCall(), readonly: 1 },
      'JSONEachRow',
    )
    expect((await body.take())?.toString()).toBe('{"a":1}\n')
    const rest = body.take().catch((error: unknown) => error)
    await expect.poll(() => seen.length, { timeout: 5_000 }).toBe(2)
    await transport[Symbol.asyncDispose]()
    for (const failure of [await hanging, await rest]) expect(failure).toMatchObject({ code: 'unavailable' })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
    expect(seen).toHaveLength(2)
  })

  it('does not count a statement as running when sending fails', async () => {
    const client =
      'hot' in options
        ? openUndiciPool(hostAt('http://127.0.0.1:9'), { size: 1, idleMs: 1_000 })
        : openOfficialClient(hostAt('http://127.0.0.1:9'), { idleMs: 1_000 })
    const parameters = { text: 'x'.repeat(100_000) }
    const sending = { format: 'JSONCompact', readonly: 0, maxExecutionSeconds: 1, background: false } as const
    const request = { statement: { ...statement, parameters }, queryId: 'a', sending }
    const noop = () => undefined
    expect(() => client.send(request, { onHead: noop, onData: noop, onEnd: noop })).toThrow('too long')
    expect(client.running).toBe(0)
    await client.destroy()
  })

  it('returns the exception of the host', async () => {
    const text = 'Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE) (version 25.8)'
    const headers = { 'x-clickhouse-exception-code': '60' }
    await using stub = await startHttpStub((_request, response) => response.writeHead(404, headers).end(text), 'none')
    const message = 'host db: Unknown table. (60 UNKNOWN_TABLE)'
    expect(await failureAt(stub.url)).toMatchObject({ code: 'invalid', message, details: { clickhouseCode: 60 } })
  })

  const beginning = '{"meta":[{"name":"a","type":"String"}],\n"data":[\n["Code: 1. DB::Exception: Quoted. (QUOTED)"],'
  const exception = 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)'
  const message = 'host db: Memory limit exceeded. (241 MEMORY_LIMIT_EXCEEDED)'
  it.each([
    [
      'an exception between markers',
      `\r\n__exception__\r\nxyz\r\n${exception}\r\n91 xyz\r\n__exception__\r\n`,
      message,
    ],
    ['an exception on a line', `\n${exception}\n`, message],
    ['nothing', '', 'host db cannot be reached: it closes its connections'],
  ])('reports why a host closed the connection after rows and %s', async (_what, behind, sentence) => {
    await using stub = await startHttpStub(
      (_request, response) => void response.write(beginning + behind, () => response.destroy()),
      'none',
    )
    expect(await failureAt(stub.url)).toMatchObject({ code: 'unavailable', message: sentence })
  })

  it('reads no more than the maximum size of a response', async () => {
    await using stub = await startHttpStub((_request, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      const more = (): void => {
        while (response.writable && response.write(chunk));
      }
      response.on('drain', more)
      more()
    }, 'none')
    await using transport = transportWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    const message = `host db sent more than ${maxBufferedResponseBytes} bytes; request fewer rows`
    await expect(whole(transport, hostAt(stub.url))).rejects.toMatchObject({ code: 'too-large', message })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBeLessThan(2)
  })

  it('closes the connection when the caller leaves, before and after the response starts', async () => {
    await using stub = await startHttpStub(({ sql }, response) => {
      if (sql.includes('42')) response.write('{"a":1}\n')
    }, 'none')
    // Statements of a read-only user are not killed, so no other connection is open.
    const request = { host: hostAt(stub.url), statement, readonly: 1 }
    await using transport = transportWith()
    const { body } = await transport.stream({ ...request, context: createCall() }, 'JSONEachRow')
    expect((await body.take())?.toString()).toBe('{"a":1}\n')
    body.leave()
    await expect(body.take()).rejects.toThrow()
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
    const leaving = new AbortController()
    const hanging = { ...request, statement: { ...statement, sql: 'SELECT sleep(3)' } }
    const run = transport.whole({ ...hanging, context: createCall({ signal: leaving.signal }) })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(1)
    leaving.abort(new DOMException('gone', 'AbortError'))
    await expect(run).rejects.toMatchObject({ message: 'gone' })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
  })

  it('closes the connections of a released host once its responses have ended', async () => {
    const { promise: released, resolve: respond } = Promise.withResolvers<void>()
    await using stub = await startHttpStub(
      (_request, response) => void released.then(() => sendResultRows(response, [['42']])),
      'none',
    )
    await using transport = transportWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    const host = hostAt(stub.url)
    const run = whole(transport, host)
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(1)
    transport.release(host)
    respond()
    expect((await run).rows).toEqual([['42']])
    await expect.poll(() => stub.open, { timeout: 3_000 }).toBe(0)
  })

  it('connects to user connections through the guard, which may block them', async () => {
    await using stub = await startHttpStub((_request, response) => sendResultRows(response, [['42']]), 'none')
    await using transport = transportWith()
    const connectThroughGuard = async (env: Record<string, string>) => {
      await using net = openNet({ env })
      return await whole(transport, { ...hostAt(stub.url), key: JSON.stringify(env), connect: net.connect })
    }
    expect((await connectThroughGuard({ SVC_ALLOW_PRIVATE_HOSTS: 'true' })).rows).toEqual([['42']])
    const before = stub.most
    await expect(connectThroughGuard({ SVC_ALLOW_PRIVATE_HOSTS: 'false' })).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'unreachable' },
    })
    expect(stub.most).toBe(before)
  })

  it('dials exactly the resolved address that the guard has checked', async () => {
    await using stub = await startHttpStub((_request, response) => {
      response.setHeader('connection', 'close')
      sendResultRows(response, [['42']])
    }, 'none')
    const addresses = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '169.254.169.254']]
    let lookups = 0
    const resolve = async () => addresses[lookups++] ?? []
    // The setting allows loopback but not cloud metadata addresses.
    await using net = openNet({ env: { SVC_ALLOW_PRIVATE_HOSTS: 'true' }, resolve })
    await using transport = transportWith()
    const host = { ...hostAt(stub.url.replace('127.0.0.1', 'db.example.com')), connect: net.connect }
    expect((await whole(transport, host)).rows).toEqual([['42']])
    const blocked = { code: 'unavailable', details: { reason: 'unreachable' } }
    for (const _second of [1, 2]) await expect(whole(transport, host)).rejects.toMatchObject(blocked)
    expect([lookups, stub.most]).toEqual([3, 1])
  })
})

describe('probes and kills', () => {
  it('share one reserved connection and run one at a time', async () => {
    let running = 0
    let most = 0
    const waiting: (() => void)[] = []
    await using stub = await startHttpStub((_request, response) => {
      most = Math.max(most, ++running)
      waiting.push(() => {
        running--
        sendResultRows(response, [['42']])
      })
    }, 'none')
    await using transport = transportWith()
    const host = hostAt(stub.url)
    const probe = (signal = new AbortController().signal) =>
      transport.reserved(
        { host, statement: { what: 'probe', sql: 'SELECT 1' }, context: createCall({ signal }), readonly: 0 },
        5_000,
      )
    const leaving = new AbortController()
    const [first, , third] = [probe(), probe(leaving.signal).catch(() => undefined), probe()]
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(1)
    leaving.abort(new Error('gone'))
    waiting.shift()?.()
    await first
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(1)
    waiting.shift()?.()
    await third
    expect(most).toBe(1)
  })
})
