import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import corpus from './corpus.json' with { type: 'json' }
import { NetFailure } from './failure.ts'
import type { NameResolver } from './guard.ts'
import { openNet } from './net.ts'

const onLoopback: NameResolver = async () => ['127.0.0.1']
const privateAllowed = { SVC_ALLOW_PRIVATE_HOSTS: 'true' }

/** Starts a server on loopback that records the paths and `Host` headers of its requests. */
const startServer = async (answer: RequestListener, port = 0, address = '127.0.0.1') => {
  const requests: string[] = []
  let connections = 0
  const server = createServer((request, response) => {
    requests.push(`${request.headers.host ?? ''}${request.url ?? ''}`)
    answer(request, response)
  })
  server.on('connection', () => connections++)
  server.listen(port, address)
  await once(server, 'listening')
  // The address of a listening TCP server is never a string or null.
  const { port: own } = server.address() as AddressInfo
  return {
    port: own,
    requests,
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (error instanceof NetFailure ? error : Promise.reject(error)),
  )

describe('a guarded request', () => {
  it('reaches the checked address under the requested name', async () => {
    await using server = await startServer((_request, response) => response.end('hello'))
    await using net = openNet({ env: privateAllowed, resolve: onLoopback })
    const answer = await net.guarded('database')(`http://clickhouse.example.com.:${server.port}/ping#part`)
    expect([answer.status, await answer.text()]).toEqual([200, 'hello'])
    expect(server.requests).toEqual([`clickhouse.example.com:${server.port}/ping`])
  })

  it.each(['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', 'localhost', 'db.example.com'])(
    'never opens a socket to loopback by default: %s',
    async (host) => {
      await using server = await startServer((_request, response) => response.end())
      await using net = openNet({ env: {}, resolve: onLoopback })
      const failure = await failureOf(net.guarded('database')(`http://${host}:${server.port}/secret?token=abc`))
      expect(failure?.reason).toBe('not-allowed')
      expect(failure?.message).not.toMatch(/secret|token|abc/)
      expect(server.connections).toBe(0)
    },
  )

  it('applies the setting at the time of the request', async () => {
    await using server = await startServer((_request, response) => response.end())
    const env: Record<string, string> = {}
    await using net = openNet({ env, resolve: onLoopback })
    const send = () => failureOf(net.guarded('database')(`http://db.example.com:${server.port}/`))
    expect(await send()).toMatchObject({ reason: 'not-allowed' })
    env.SVC_ALLOW_PRIVATE_HOSTS = 'true'
    expect(await send()).toBeUndefined()
    env.SVC_CLOUD_MODE = 'true'
    expect(await failureOf(net.check('http://db.example.com/', 'database'))).toMatchObject({ rule: 'address' })
  })

  it('connects to the checked address without resolving again when a name changes its address (S124)', async () => {
    const rebinding = corpus.entries.find(({ id }) => id === 'S124')
    const sequence = [['127.0.0.2'], ['127.0.0.1']]
    expect(rebinding?.dns_sequence).toHaveLength(sequence.length)
    await using checked = await startServer((_request, response) => response.end('checked'), 0, '127.0.0.2')
    await using target = await startServer((_request, response) => response.end('target'), checked.port)
    let lookups = 0
    const resolve: NameResolver = async () => sequence[lookups++] ?? []
    await using net = openNet({ env: privateAllowed, resolve })
    const answer = await net.guarded('database')(`http://rebind.example.com:${checked.port}/`)
    expect(await answer.text()).toBe('checked')
    expect([lookups, target.connections]).toEqual([1, 0])
  })

  it('resolves the name for each connection, so that a name which became private is rejected', async () => {
    await using server = await startServer((_request, response) => {
      response.setHeader('connection', 'close')
      response.end()
    })
    let answers = ['127.0.0.1']
    await using net = openNet({ env: privateAllowed, resolve: async () => answers })
    const send = () => failureOf(net.guarded('database')(`http://turning.example.com:${server.port}/`))
    expect(await send()).toBeUndefined()
    answers = ['169.254.169.254']
    expect(await send()).toMatchObject({ reason: 'not-allowed', rule: 'address' })
    answers = []
    expect(await send()).toMatchObject({ reason: 'unreachable', systemCode: 'ENOTFOUND' })
  })

  it('treats a name without a response of the resolver as unresolved', async () => {
    const { promise: never } = Promise.withResolvers<string[]>()
    await using net = openNet({ env: {}, resolve: () => never, lookUpWithinMs: 1 })
    const failure = await failureOf(net.check('http://slow.example.com/', 'database'))
    expect(failure).toMatchObject({ reason: 'not-allowed', rule: 'address', systemCode: undefined })
  })

  it('reports an unresolved name if private networks are allowed, and hides it otherwise', async () => {
    const resolve = async () => Promise.reject(new Error('getaddrinfo ENOTFOUND'))
    await using open = openNet({ env: privateAllowed, resolve })
    await using closed = openNet({ env: {}, resolve })
    const url = 'http://missing.example.com/'
    expect(await failureOf(open.check(url, 'database'))).toMatchObject({
      reason: 'unreachable',
      message: 'missing.example.com cannot be reached (ENOTFOUND)',
    })
    expect(await failureOf(closed.check(url, 'database'))).toMatchObject({ reason: 'not-allowed', rule: 'address' })
  })

  it.each(['S151', 'S152'])('does not follow a redirect (%s)', async (entry) => {
    const to = corpus.entries.find(({ id }) => id === entry)?.redirects?.[0] ?? ''
    expect(to).toMatch(/^http/)
    await using server = await startServer((_request, response) => response.writeHead(307, { location: to }).end())
    await using net = openNet({ env: privateAllowed, resolve: onLoopback })
    const sent = net.guarded('notification')(`http://hooks.example.com:${server.port}/r`, {
      method: 'POST',
      body: '{}',
    })
    expect(await failureOf(sent)).toMatchObject({ reason: 'redirect' })
    expect(server.requests).toHaveLength(1)
  })

  it('rejects ports of other services for notifications, and accepts any port for databases', async () => {
    await using net = openNet({ env: {}, resolve: async () => ['93.184.215.14'] })
    const check = (purpose: 'database' | 'notification') => failureOf(net.check('http://example.com:6379/', purpose))
    expect(await check('notification')).toMatchObject({ rule: 'port' })
    expect(await check('database')).toBeUndefined()
  })

  const deciding: Record<string, string>[] = [
    { host: 'other' },
    { 'Transfer-Encoding': 'chunked' },
    { 'x-note': 'a\r\nx-other: b' },
  ]
  it.each(deciding)('rejects a header that determines routing or framing: %j', async (headers) => {
    await using server = await startServer((_request, response) => response.end())
    await using net = openNet({ env: privateAllowed, resolve: onLoopback })
    const sent = net.guarded('notification')(`http://hooks.example.com:${server.port}/`, { headers })
    expect(await failureOf(sent)).toMatchObject({ reason: 'not-allowed', rule: 'header' })
    expect(server.connections).toBe(0)
  })
})

describe('any request', () => {
  it('ends at its timeout, even in the middle of a response', async () => {
    await using server = await startServer((_request, response) => void response.write('a'))
    await using net = openNet({ env: {} })
    const answer = await net.trusted(`http://127.0.0.1:${server.port}/`, { timeoutMs: 200 })
    expect(await failureOf(answer.text())).toMatchObject({ reason: 'timeout' })
  })

  it('ends when its caller aborts', async () => {
    await using server = await startServer(() => undefined)
    await using net = openNet({ env: {} })
    const reason = new Error('the caller left')
    const leaving = new AbortController()
    const sent = net.trusted(`http://127.0.0.1:${server.port}/`, { signal: leaving.signal })
    leaving.abort(reason)
    await expect(sent).rejects.toBe(reason)
  })

  it.each([
    ['as it is', {}, Buffer.alloc(100_000)],
    ['after decompression', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(100_000))],
    ['after the other decompression', { 'content-encoding': 'br' }, brotliCompressSync(Buffer.alloc(100_000))],
  ])('reads at most the maximum size, counted %s', async (_, headers, body) => {
    await using server = await startServer((_request, response) => response.writeHead(200, headers).end(body))
    await using net = openNet({ env: {} })
    const url = `http://127.0.0.1:${server.port}/`
    const read = async (maxBytes: number) => (await net.trusted(url, { maxBytes })).arrayBuffer()
    expect((await read(100_000)).byteLength).toBe(100_000)
    expect(await failureOf(read(99_999))).toMatchObject({ reason: 'too-large' })
  })

  it('returns responses without a body and error responses', async () => {
    await using server = await startServer((request, response) =>
      response.writeHead(Number(request.url?.slice(1))).end(),
    )
    await using net = openNet({ env: {} })
    for (const status of [204, 304, 404, 500]) {
      expect((await net.trusted(`http://127.0.0.1:${server.port}/${status}`)).status).toBe(status)
    }
  })

  it.each(['gzip', 'br', 'unheard-of'])('accepts an empty body with any coding: %s', async (coding) => {
    await using server = await startServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': coding }).end(),
    )
    await using net = openNet({ env: {} })
    for (const method of ['GET', 'HEAD']) {
      const answer = await net.trusted(`http://127.0.0.1:${server.port}/`, { method })
      expect([answer.status, await answer.text()]).toEqual([200, ''])
    }
  })

  it('decompresses a response as it arrives, and fails if its encoding is invalid', async () => {
    await using server = await startServer((request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' })
      if (request.url === '/wrong') response.end('no gzip')
      else response.write(gzipSync('first'))
    })
    await using net = openNet({ env: {} })
    const send = (path: string) => net.trusted(`http://127.0.0.1:${server.port}${path}`)
    const reader = (await send('/')).body?.getReader()
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first')
    await reader?.cancel()
    expect(await failureOf((await send('/wrong')).text())).toMatchObject({ reason: 'unreachable' })
  })

  it('reports an unreachable server without its address', async () => {
    const server = await startServer(() => undefined)
    await server[Symbol.asyncDispose]()
    await expect(once(connect(server.port, '127.0.0.1'), 'connect')).rejects.toThrow()
    await using net = openNet({ env: privateAllowed, resolve: onLoopback })
    const failure = await failureOf(net.guarded('database')(`http://gone.example.com:${server.port}/key?a=b`))
    expect(failure).toMatchObject({ reason: 'unreachable', systemCode: 'ECONNREFUSED' })
    expect(failure?.message).toBe('gone.example.com cannot be reached (ECONNREFUSED)')
    expect(failure?.cause).toBeUndefined()
  })

  it.each(['ftp://example.com/', 'http://user:password@example.com/', 'example.com', ''])(
    'is refused for an address that is none: %s',
    async (url) => {
      await using net = openNet({ env: {} })
      const failure = await failureOf(net.trusted(url))
      expect(failure).toMatchObject({ reason: 'not-allowed' })
      expect(failure?.message).not.toContain('password')
    },
  )
})
