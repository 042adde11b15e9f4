// @module-tag long
import { setImmediate as nextTick } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#shared/time/clock.ts'
import { openNet } from '#shared/net/net.ts'
import { validateHostList } from '../hosts/host-list.ts'
import { createCall, createSilentTelemetry } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { type DatabaseClient, openClient } from './client.ts'
import { maxFrameBytes } from '#shared/bus/limits.ts'
import { openLivenessTracker } from './liveness.ts'

const password = 'pw-9f3'
const hostAt = (url: string) => {
  const [host] = validateHostList('COLUMNDB_HOST', [{ url, label: 'db', user: 'spy', password }]).hosts
  if (!host) throw new Error('invalid host URL in test data')
  return host
}
const clientWith = (env: Record<string, string> = {}, telemetry = createSilentTelemetry()): DatabaseClient =>
  openClient({ env: { COLUMNDB_MAX_EXECUTION_TIME: '1', ...env }, telemetry, clock: systemClock })
const statement = { what: 'test', sql: 'SELECT 42' }

/** Runs a statement and returns its error, which must not contain the address, the user or the password. */
const failureAt = async (url: string, client: DatabaseClient) => {
  const error: unknown = await client.run(hostAt(url), statement, createCall()).catch((thrown: unknown) => thrown)
  if (!(error instanceof Error)) throw new Error('the statement succeeded')
  const text = JSON.stringify([error.message, 'details' in error ? error.details : undefined])
  expect(text).toContain('db')
  expect(text).not.toMatch(/127\.0\.0\.1|spy|pw-9f3/)
  return error
}

describe('a host that', () => {
  it('refuses connections fails as unreachable', async () => {
    const stub = await startTcpStub(() => undefined)
    await stub[Symbol.asyncDispose]()
    await using client = clientWith()
    const refused = { code: 'unavailable', details: { reason: 'unreachable' } }
    const failure = await failureAt(stub.url, client)
    expect(failure).toMatchObject({ ...refused, message: 'host db cannot be reached: nothing listens on its port' })
  })

  it('does not speak TLS fails with that reason', async () => {
    await using stub = await startHttpStub((_, response) => response.end())
    await using client = clientWith()
    const failure = await failureAt(stub.url.replace('http:', 'https:'), client)
    expect(failure).toMatchObject({ message: 'host db cannot be reached: its port does not speak TLS' })
  })

  it('has an unknown name fails with that reason, also for a user connection', async () => {
    const url = 'http://nothing.invalid:8123'
    await using client = clientWith()
    await using net = openNet({ env: { SVC_ALLOW_PRIVATE_HOSTS: 'true' } })
    const unknown = {
      code: 'unavailable',
      message: 'host db cannot be reached: its host name does not resolve',
      details: { reason: 'unreachable' },
    }
    expect(await failureAt(url, client)).toMatchObject(unknown)
    const userHost = { ...hostAt(url), key: 'user:a:b', connect: net.connect }
    await expect(client.run(userHost, statement, createCall())).rejects.toMatchObject(unknown)
  })

  it('resets connections fails as unreachable after one retry', async () => {
    let connections = 0
    await using stub = await startTcpStub((socket) => {
      connections++
      socket.once('data', () => socket.resetAndDestroy())
    })
    await using client = clientWith()
    const failure = await failureAt(stub.url, client)
    expect(failure).toMatchObject({ code: 'unavailable', details: { reason: 'unreachable' } })
    expect(failure.message).toBe('host db cannot be reached: it closes its connections')
    expect(connections).toBe(2)
  })

  it('hangs fails with a timeout', async () => {
    await using stub = await startTcpStub((socket) => socket.resume())
    await using client = clientWith()
    const started = performance.now()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'timeout', details: { reason: 'timeout' } })
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  it('hangs on a statement that reads from Keeper fails with an error about Keeper', async () => {
    await using stub = await startHttpStub(() => undefined)
    // The capabilities of the host are read first, and must arrive in time even if this process is delayed.
    await using client = clientWith({ COLUMNDB_MAX_EXECUTION_TIME: '3' })
    const run = client.run(hostAt(stub.url), { ...statement, readsKeeper: true }, createCall())
    await expect(run).rejects.toMatchObject({
      code: 'timeout',
      message: 'host db: timeout while reading from Keeper; check that Keeper is reachable',
    })
    await using late = await startHttpStub((_, response) =>
      response.writeHead(417).end('Code: 159. DB::Exception: Timeout exceeded: elapsed 10009 ms. (TIMEOUT_EXCEEDED)'),
    )
    await expect(client.run(hostAt(late.url), { ...statement, readsKeeper: true }, createCall())).rejects.toMatchObject(
      {
        message: 'host db: timeout while reading from Keeper; check that Keeper is reachable',
      },
    )
    const impatient = createCall({ deadline: performance.now() + 500 })
    await expect(client.run(hostAt(stub.url), { ...statement, readsKeeper: true }, impatient)).rejects.toMatchObject({
      message: 'host db did not answer in time',
    })
  })

  it('hangs in the middle of a response fails with a timeout', async () => {
    await using stub = await startHttpStub((_, response) => void response.write('{"meta":[],'))
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'timeout' })
  })

  it('responds slowly within the time limit succeeds', async () => {
    await using stub = await startHttpStub((_, response) => {
      response.write('{"meta":[{"name":"a","type":"UInt64"}],')
      response.once('drain', () => undefined)
      setTimeout(() => response.end('"data":[["42"]]}'), 300)
    })
    await using client = clientWith()
    expect((await client.run(hostAt(stub.url), statement, createCall())).rows).toEqual([[42]])
  })

  it.each([
    [401, 'who are you', 'refused'],
    [403, 'Code: 516. DB::Exception: spy: Authentication failed. (AUTHENTICATION_FAILED)', 'refused'],
    [200, '<html>Welcome to nginx!</html>', 'garbage'],
    [200, '{"some":"json"}', 'garbage'],
    [502, 'Bad Gateway at 127.0.0.1', 'garbage'],
    [302, '', 'garbage'],
  ])('responds with %i %j fails as %s', async (status, body, reason) => {
    await using stub = await startHttpStub((_, response) => response.writeHead(status).end(body), 'none')
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { reason } })
  })

  it('sends a long response to a short statement fails as garbage, without being read to the end', async () => {
    let isRead = false
    await using stub = await startHttpStub((_, response) => {
      response.write('{"meta":[{"name":"a","type":"UInt8"}],"data":[')
      response.write('[1],'.repeat(4_000_000), () => (isRead = true))
    }, 'none')
    await using client = clientWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { reason: 'garbage' } })
    expect(isRead).toBe(false)
  })

  it('does not speak HTTP fails as garbage', async () => {
    await using stub = await startTcpStub((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { reason: 'garbage' } })
  })

  it('reports an exception after the first byte fails with that exception', async () => {
    const text =
      '{"meta":[{"name":"a","type":"UInt8"}],"data":[[1],Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'
    await using stub = await startHttpStub((_, response) => response.end(text))
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { clickhouseCode: 241 } })
  })
})

describe('a host that does not respond to the probe', () => {
  const openWithLiveness = () => {
    const liveness = openLivenessTracker(20)
    return {
      liveness,
      client: openClient({ env: {}, telemetry: createSilentTelemetry(), clock: systemClock, liveness }),
    }
  }

  it('fails a statement early when it has never responded', async () => {
    await using stub = await startTcpStub(() => undefined)
    const { liveness, client } = openWithLiveness()
    await using _ = client
    const host = hostAt(stub.url)
    liveness.report(host, true)
    await expect(client.run(host, statement, createCall())).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('fails running and new statements with its name, and releases their slots', async () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>()
    await using stub = await startHttpStub(() => resolve())
    const { liveness, client } = openWithLiveness()
    await using _ = client
    const host = hostAt(stub.url)
    const inFlight = client.run(host, statement, createCall()).catch((error: unknown) => error)
    await reached
    liveness.report(host, true)
    const unresponsive = { code: 'unavailable', message: expect.stringContaining('host db stopped responding') }
    expect(await inFlight).toMatchObject(unresponsive)
    await expect(client.run(host, { what: 'test', sql: 'SELECT 43' }, createCall())).rejects.toMatchObject(unresponsive)
    await expect(client.stream(host, statement, createCall())).rejects.toMatchObject(unresponsive)
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBeLessThan(2)
  })

  it('fails a stream that stopped sending rows', async () => {
    await using stub = await startHttpStub((_, response) => void response.write('{"a":1}\n'))
    const { liveness, client } = openWithLiveness()
    await using _ = client
    const host = hostAt(stub.url)
    const { body } = await client.stream(host, statement, createCall())
    expect((await body.take())?.toString()).toBe('{"a":1}\n')
    liveness.report(host, true)
    await expect(body.take()).rejects.toMatchObject({ code: 'unavailable', details: { host: 'db' } })
  })

  it('serves statements again once it responds to the probe', async () => {
    const waiting: (() => void)[] = []
    const second = { what: 'test', sql: 'SELECT 43' }
    await using stub = await startHttpStub(({ sql }, response) => {
      // The first statement may still arrive, although it is aborted after some milliseconds.
      if (sql.includes(second.sql)) waiting.push(() => sendResultRows(response, [['43']]))
    })
    const { liveness, client } = openWithLiveness()
    await using _ = client
    const host = hostAt(stub.url)
    liveness.report(host, true)
    await expect(client.run(host, statement, createCall())).rejects.toMatchObject({ code: 'unavailable' })
    liveness.report(host, false)
    const run = client.run(host, second, createCall())
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(1)
    waiting[0]?.()
    expect((await run).rows).toEqual([['43']])
  })
})

describe('a full host', () => {
  it('runs at most COLUMNDB_POOL_SIZE statements and rejects others as busy instead of queueing them for long', async () => {
    let running = 0
    let most = 0
    await using stub = await startHttpStub(({ url }, response) => {
      if (url.searchParams.get('log_comment')?.includes('kill')) return response.end()
      most = Math.max(most, ++running)
      response.on('close', () => running--)
    })
    await using client = clientWith({ COLUMNDB_POOL_SIZE: '3', COLUMNDB_MAX_EXECUTION_TIME: '4' })
    const host = hostAt(stub.url)
    const runs = Array.from({ length: 60 }, (_, index) =>
      client.run(host, { what: 'test', sql: `SELECT ${index}` }, createCall()).catch((error: unknown) => error),
    )
    const codes = (await Promise.all(runs)).map((error) =>
      error instanceof Error && 'code' in error ? error.code : 'succeeded',
    )
    expect(most).toBe(3)
    expect(codes.filter((code) => code === 'timeout')).toHaveLength(3)
    expect(codes.filter((code) => code === 'busy')).toHaveLength(57)
  })
})

describe('connections', () => {
  it('are closed after COLUMNDB_POOL_TIMEOUT without use', async () => {
    await using stub = await startHttpStub((_, response) => sendResultRows(response, [['42']]))
    await using client = clientWith({ COLUMNDB_POOL_TIMEOUT: '200', COLUMNDB_POOL_CLEANUP_INTERVAL: '50' })
    await client.run(hostAt(stub.url), statement, createCall())
    expect(stub.open).toBeGreaterThan(0)
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
    expect((await client.run(hostAt(stub.url), statement, createCall())).rows).toEqual([['42']])
  })

  it('cause no error when the host has closed them', async () => {
    await using stub = await startHttpStub(({ request }, response) => {
      sendResultRows(response, [['42']])
      response.on('finish', () => request.socket.destroy())
    })
    await using client = clientWith()
    for (let round = 0; round < 20; round++) {
      const runs = [1, 2, 3].map((index) =>
        client.run(hostAt(stub.url), { what: 'test', sql: `SELECT ${round}, ${index}` }, createCall()),
      )
      for (const result of await Promise.all(runs)) expect(result.rows).toEqual([['42']])
    }
  })
})

describe('equal statements', () => {
  const countStatements = async (env: Record<string, string>, cache: 'realtime' | undefined) => {
    let statements = 0
    await using stub = await startHttpStub((_, response) => {
      statements++
      setImmediate(() => sendResultRows(response, [['42']]))
    })
    await using client = clientWith(env)
    const host = hostAt(stub.url)
    const run = () => client.run(host, { ...statement, cache }, createCall())
    await client.capabilities(host, createCall())
    await Promise.all(Array.from({ length: 8 }, run))
    await run()
    return statements
  }

  it('share one run while it lasts and its result while it is cached', async () => {
    expect(await countStatements({}, undefined)).toBe(2)
    expect(await countStatements({}, 'realtime')).toBe(1)
  })

  it('run each time with SVC_QUERY_CACHE off', async () => {
    expect(await countStatements({ SVC_QUERY_CACHE: 'off' }, 'realtime')).toBe(9)
  })
})

describe('a user whose profile is read-only', () => {
  it('gets statements without settings, and no kills', async () => {
    const paths: string[] = []
    await using stub = await startHttpStub(
      ({ url }, response) => {
        paths.push([...url.searchParams.keys()].join(' '))
        sendResultRows(response, [['42']])
      },
      { readonly: 1 },
    )
    await using client = clientWith()
    await client.run(hostAt(stub.url), statement, createCall())
    expect(paths).toEqual(['query_id default_format'])
  })
})

describe('statements', () => {
  it('are counted by host and outcome', async () => {
    const telemetry = createSilentTelemetry()
    await using stub = await startHttpStub(({ sql }, response) => {
      if (sql === 'SELECT 42') sendResultRows(response, [['42']])
      else response.writeHead(500).end('Code: 62. DB::Exception: No. (SYNTAX_ERROR)')
    })
    await using client = clientWith({}, telemetry)
    const host = hostAt(stub.url)
    await client.run(host, statement, createCall())
    await client.run(host, { what: 'test', sql: 'SELEKT' }, createCall()).catch(() => undefined)
    const exposed = await telemetry.metrics.metrics()
    const series = (outcome: string) =>
      `watchhouse_query_statement_duration_seconds_count{host="db",outcome="${outcome}"}`
    expect(exposed).toContain(`${series('ok')} 1`)
    expect(exposed).toContain(`${series('invalid')} 1`)
    expect(exposed).toContain('watchhouse_query_statements_running{host="db"} 0')
  })
})

describe('a long response', () => {
  it('arrives in pieces as large as the bus allows when the reader is slower than the host', async () => {
    const row = `${JSON.stringify({ text: 'x'.repeat(1_000) })}\n`
    await using stub = await startHttpStub((_, response) => response.end(row.repeat(2_000)))
    await using client = clientWith()
    const { body } = await client.stream(hostAt(stub.url), statement, createCall())
    const sizes: number[] = []
    for (let piece = await body.take(); piece; piece = await body.take()) {
      sizes.push(piece.length)
      for (let tick = 0; tick < 50; tick++) await nextTick()
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(row.length * 2_000)
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(maxFrameBytes / 2)
  })

  it('pauses at the host while it is not read', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const chunks = 64
    let sent = 0
    await using stub = await startHttpStub((_, response) => {
      const sendMore = () => {
        while (sent < chunks && response.write(chunk)) sent++
      }
      response.on('drain', sendMore)
      sendMore()
    })
    await using client = clientWith()
    const { body } = await client.stream(hostAt(stub.url), statement, createCall())
    await body.take()
    let before = -1
    // The kernel buffers some data first; then backpressure stops the host.
    const isPaused = () => before === (before = sent)
    await expect.poll(isPaused, { interval: 100 }).toBe(true)
    expect(sent).toBeLessThan(chunks / 2)
    body.leave()
  })
})
