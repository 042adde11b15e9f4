import { describe, expect, it } from 'vitest'
import { openNet } from '#shared/net/net.ts'
import { systemClock } from '#shared/time/clock.ts'
import { hostList, type MonitoredHost } from '../hosts/host-list.ts'
import { aCall, quietTelemetry } from '../testing/open-parts.ts'
import { type Asked, rows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { maxAnswerBytes } from './answer.ts'
import { openOfficialClient } from './official-client.ts'
import type { Statement } from './statement.ts'
import { openTransport, type Transport } from './transport.ts'
import { openUndiciPool } from './undici-pool.ts'

const hostAt = (url: string): MonitoredHost => {
  const [host] = hostList('COLUMNDB_HOST', [{ url, label: 'db', user: 'spy', password: 'pw-9f3:ü' }]).hosts
  if (!host) throw new Error('the URL is well-formed')
  return host
}
const transportWith = (env: Record<string, string> = {}): Transport =>
  openTransport({ env: { COLUMNDB_MAX_EXECUTION_TIME: '1', ...env }, telemetry: quietTelemetry(), clock: systemClock })

describe.each([
  ['the pool for hot statements', { hot: true as const }],
  ['the official client', {}],
])('%s', (_, carried) => {
  const statement: Statement = { what: 'test', sql: '  SELECT 42;\n', ...carried }
  const whole = (transport: Transport, host: MonitoredHost, more: Partial<Statement> = {}) =>
    transport.whole({ host, statement: { ...statement, ...more }, asking: aCall(), readonly: 0 })
  const failureAt = async (url: string): Promise<unknown> => {
    await using transport = transportWith()
    return whole(transport, hostAt(url)).catch((error: unknown) => error)
  }

  it('sends the statement as it is, who asks, what for and with which limits', async () => {
    const seen: Asked[] = []
    await using stub = await startHttpStub((asked, response) => {
      seen.push(asked)
      rows(response, [['42']])
    }, 'none')
    await using transport = transportWith()
    const parameters = { text: "['it''s']\t\\ \n&ü", none: null, yes: true, half: 1.5 }
    const host = hostAt(`${stub.url}/ch/?cluster=a&role=b&role=c`)
    await whole(transport, host, { parameters, database: 'default', session: 's-1', limits: { max_threads: 3 } })
    const [{ sql, url, request }] = seen as [Asked]
    expect(sql).toBe(statement.sql)
    expect([request.method, url.pathname]).toEqual(['POST', '/ch/'])
    const credentials = Buffer.from('spy:pw-9f3:ü').toString('base64')
    expect(request.headers).toMatchObject({ 'user-agent': 'watchhouse', authorization: `Basic ${credentials}` })
    expect(request.headers).toMatchObject({ 'content-type': 'text/plain' })
    expect(request.headers).toMatchObject({ 'content-length': String(sql.length) })
    for (const name of ['accept-encoding', 'transfer-encoding']) expect(request.headers).not.toHaveProperty(name)
    expect(url.searchParams.getAll('role')).toEqual(['b', 'c'])
    const { query_id, ...others } = Object.fromEntries(url.searchParams)
    expect(query_id).toMatch(/^[\da-f-]{36}$/)
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
    ['refuses connections', 'unreachable', 'cannot be reached: nothing listens at its port'],
    ['speaks no TLS', 'unreachable', 'cannot be reached: it does not speak TLS at its port'],
    ['has an unknown name', 'unreachable', 'cannot be reached: the resolver does not know its host name'],
    ['hangs', 'timeout', 'did not answer in time'],
    ['speaks no HTTP', 'garbage', 'answered something that is not ClickHouse'],
    ['sends endless headers', 'garbage', 'answered something that is not ClickHouse'],
    ['answers 302', 'garbage', 'answered something that is not ClickHouse'],
    ['answers 401', 'refused', 'refused the configured user or password'],
  ])('says of a host that %s why it gave no answer', async (behaviour, reason, sentence) => {
    await using stub =
      behaviour === 'answers 302' || behaviour === 'answers 401'
        ? await startHttpStub(
            (_asked, response) => response.writeHead(Number(behaviour.slice(-3)), { location: '/' }).end('no'),
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

  it('tries once more what reads when the connection was closed, and never what writes', async () => {
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

  it.concurrent.for<[what: string, announced: string | undefined, keptMs: number]>([
    ['the time that a host announces, less a margin', 'timeout=7', 5_000],
    ['four seconds where it announces none', undefined, 4_000],
    ['no time where that would be none', 'timeout=2, max=10', 0],
  ])('keeps an idle connection for %s', async ([, announced, keptMs], { expect }) => {
    await using stub = await startHttpStub((_asked, response) => {
      if (announced !== undefined) response.setHeader('keep-alive', announced)
      // Node announces a time of its own unless the connection is spoken of.
      else response.setHeader('connection', 'keep-alive')
      rows(response, [['42']])
    }, 'none')
    await using transport = transportWith()
    const host = hostAt(stub.url)
    await whole(transport, host)
    const answeredMs = performance.now()
    await expect.poll(() => stub.open, { timeout: 8_000, interval: 20 }).toBe(0)
    const closedMs = performance.now() - answeredMs
    expect(closedMs).toBeGreaterThan(keptMs - 100)
    expect(closedMs).toBeLessThan(keptMs + 1_500)
  })

  it('sends nothing more once it is closed, and fails what was under way', async () => {
    const seen: string[] = []
    await using stub = await startHttpStub(({ sql }, response) => {
      seen.push(sql)
      if (sql.includes('begun')) response.write('{"a":1}\n')
    }, 'none')
    const transport = transportWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    const host = hostAt(stub.url)
    const silent = whole(transport, host).catch((error: unknown) => error)
    const { body } = await transport.stream(
      { host, statement: { ...statement, sql: 'SELECT begun' }, asking: aCall(), readonly: 1 },
      'JSONEachRow',
    )
    expect((await body.take())?.toString()).toBe('{"a":1}\n')
    const rest = body.take().catch((error: unknown) => error)
    await expect.poll(() => seen.length, { timeout: 5_000 }).toBe(2)
    await transport[Symbol.asyncDispose]()
    for (const failure of [await silent, await rest]) expect(failure).toMatchObject({ code: 'unavailable' })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
    expect(seen).toHaveLength(2)
  })

  it('counts nothing as running that could not be sent', async () => {
    const opened =
      'hot' in carried
        ? openUndiciPool(hostAt('http://127.0.0.1:9'), { size: 1, idleMs: 1_000 })
        : openOfficialClient(hostAt('http://127.0.0.1:9'), { idleMs: 1_000 })
    const parameters = { text: 'x'.repeat(100_000) }
    const sending = { format: 'JSONCompact', readonly: 0, maxExecutionSeconds: 1, background: false } as const
    const request = { statement: { ...statement, parameters }, queryId: 'a', sending }
    const nothing = () => undefined
    expect(() => opened.send(request, { begun: nothing, came: nothing, ended: nothing })).toThrow('too long')
    expect(opened.running).toBe(0)
    await opened.destroy()
  })

  it('hands over the exception of the host', async () => {
    const text = 'Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE) (version 25.8)'
    const headers = { 'x-clickhouse-exception-code': '60' }
    await using stub = await startHttpStub((_asked, response) => response.writeHead(404, headers).end(text), 'none')
    const message = 'host db: Unknown table. (60 UNKNOWN_TABLE)'
    expect(await failureAt(stub.url)).toMatchObject({ code: 'invalid', message, details: { clickhouseCode: 60 } })
  })

  const begun = '{"meta":[{"name":"a","type":"String"}],\n"data":[\n["Code: 1. DB::Exception: Quoted. (QUOTED)"],'
  const exception = 'Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED) (version 26.7.2.1)'
  const message = 'host db: Memory limit exceeded. (241 MEMORY_LIMIT_EXCEEDED)'
  it.each([
    ['an exception in marks', `\r\n__exception__\r\nxyz\r\n${exception}\r\n91 xyz\r\n__exception__\r\n`, message],
    ['an exception in a line', `\n${exception}\n`, message],
    ['nothing', '', 'host db cannot be reached: it closes its connections'],
  ])('says why a host cut the connection behind rows and %s', async (_what, behind, sentence) => {
    await using stub = await startHttpStub(
      (_asked, response) => void response.write(begun + behind, () => response.destroy()),
      'none',
    )
    expect(await failureAt(stub.url)).toMatchObject({ code: 'unavailable', message: sentence })
  })

  it('reads no more than an answer may have', async () => {
    await using stub = await startHttpStub((_asked, response) => {
      const chunk = Buffer.alloc(1024 * 1024, ' ')
      const more = (): void => {
        while (response.writable && response.write(chunk));
      }
      response.on('drain', more)
      more()
    }, 'none')
    await using transport = transportWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    const message = `host db sent more than ${maxAnswerBytes} bytes`
    await expect(whole(transport, hostAt(stub.url))).rejects.toMatchObject({ code: 'too-large', message })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBeLessThan(2)
  })

  it('closes the connection of an answer that its caller leaves, before and after it begins', async () => {
    await using stub = await startHttpStub(({ sql }, response) => {
      if (sql.includes('42')) response.write('{"a":1}\n')
    }, 'none')
    // A user whose profile is read-only has no statement killed, so nothing else is open.
    const sent = { host: hostAt(stub.url), statement, readonly: 1 }
    await using transport = transportWith()
    const { body } = await transport.stream({ ...sent, asking: aCall() }, 'JSONEachRow')
    expect((await body.take())?.toString()).toBe('{"a":1}\n')
    body.leave()
    await expect(body.take()).rejects.toThrow()
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
    const leaving = new AbortController()
    const silent = { ...sent, statement: { ...statement, sql: 'SELECT sleep(3)' } }
    const asked = transport.whole({ ...silent, asking: aCall({ signal: leaving.signal }) })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(1)
    leaving.abort(new DOMException('gone', 'AbortError'))
    await expect(asked).rejects.toMatchObject({ message: 'gone' })
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
  })

  it('closes what is open to a host that is released, once its answers have ended', async () => {
    const { promise: begun, resolve: answer } = Promise.withResolvers<void>()
    await using stub = await startHttpStub(
      (_asked, response) => void begun.then(() => rows(response, [['42']])),
      'none',
    )
    await using transport = transportWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    const host = hostAt(stub.url)
    const asked = whole(transport, host)
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(1)
    transport.release(host)
    answer()
    expect((await asked).rows).toEqual([['42']])
    await expect.poll(() => stub.open, { timeout: 3_000 }).toBe(0)
  })

  it('connects through the guard where somebody brought the host, and to nothing that it refuses', async () => {
    await using stub = await startHttpStub((_asked, response) => rows(response, [['42']]), 'none')
    await using transport = transportWith()
    const brought = async (env: Record<string, string>) => {
      await using net = openNet({ env })
      return await whole(transport, { ...hostAt(stub.url), key: JSON.stringify(env), connect: net.connect })
    }
    expect((await brought({ SVC_ALLOW_PRIVATE_HOSTS: 'true' })).rows).toEqual([['42']])
    const before = stub.most
    await expect(brought({ SVC_ALLOW_PRIVATE_HOSTS: 'false' })).rejects.toMatchObject({
      code: 'unavailable',
      details: { reason: 'unreachable' },
    })
    expect(stub.most).toBe(before)
  })

  it('dials the address of a brought host that was checked, whatever its name means the next moment', async () => {
    await using stub = await startHttpStub((_asked, response) => {
      response.setHeader('connection', 'close')
      rows(response, [['42']])
    }, 'none')
    const answers = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '169.254.169.254']]
    let lookups = 0
    const resolve = async () => answers[lookups++] ?? []
    // Allows loopback, and no addresses of a cloud.
    await using net = openNet({ env: { SVC_ALLOW_PRIVATE_HOSTS: 'true' }, resolve })
    await using transport = transportWith()
    const host = { ...hostAt(stub.url.replace('127.0.0.1', 'db.example.com')), connect: net.connect }
    expect((await whole(transport, host)).rows).toEqual([['42']])
    const refused = { code: 'unavailable', details: { reason: 'unreachable' } }
    for (const _second of [1, 2]) await expect(whole(transport, host)).rejects.toMatchObject(refused)
    expect([lookups, stub.most]).toEqual([3, 1])
  })
})

describe('probes and kills', () => {
  it('share one connection beside those of callers, and wait for one another', async () => {
    let running = 0
    let most = 0
    const waiting: (() => void)[] = []
    await using stub = await startHttpStub((_asked, response) => {
      most = Math.max(most, ++running)
      waiting.push(() => {
        running--
        rows(response, [['42']])
      })
    }, 'none')
    await using transport = transportWith()
    const host = hostAt(stub.url)
    const probe = (signal = new AbortController().signal) =>
      transport.reserved(
        { host, statement: { what: 'probe', sql: 'SELECT 1' }, asking: aCall({ signal }), readonly: 0 },
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
