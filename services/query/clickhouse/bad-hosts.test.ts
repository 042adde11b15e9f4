// @module-tag long
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { systemClock } from '#shared/time/clock.ts'
import { openNet } from '#shared/net/net.ts'
import { hostList } from '../hosts/host-list.ts'
import { aCall, quietTelemetry } from '../testing/open-parts.ts'
import { rows, startHttpStub, startTcpStub } from '../testing/stub-host.ts'
import { type DatabaseClient, openClient } from './client.ts'
import { frameBytes } from '#shared/bus/limits.ts'
import { openSilence } from './silence.ts'

const password = 'pw-9f3'
const hostAt = (url: string) => {
  const [host] = hostList('COLUMNDB_HOST', [{ url, label: 'db', user: 'spy', password }]).hosts
  if (!host) throw new Error('the URL is well-formed')
  return host
}
const clientWith = (env: Record<string, string> = {}, telemetry = quietTelemetry()): DatabaseClient =>
  openClient({ env: { COLUMNDB_MAX_EXECUTION_TIME: '1', ...env }, telemetry, clock: systemClock })
const statement = { what: 'test', sql: 'SELECT 42' }

/** Asks once and gives the error, which must never tell where the host is nor who asks. */
const failureAt = async (url: string, client: DatabaseClient) => {
  const error: unknown = await client.run(hostAt(url), statement, aCall()).catch((thrown: unknown) => thrown)
  if (!(error instanceof Error)) throw new Error('it answered')
  const told = JSON.stringify([error.message, 'details' in error ? error.details : undefined])
  expect(told).toContain('db')
  expect(told).not.toMatch(/127\.0\.0\.1|spy|pw-9f3/)
  return error
}

describe('a host that', () => {
  it('refuses connections is unreachable', async () => {
    const stub = await startTcpStub(() => undefined)
    await stub[Symbol.asyncDispose]()
    await using client = clientWith()
    const refused = { code: 'unavailable', details: { reason: 'unreachable' } }
    const failure = await failureAt(stub.url, client)
    expect(failure).toMatchObject({ ...refused, message: 'host db cannot be reached: nothing listens at its port' })
  })

  it('speaks no TLS where it should is told as that', async () => {
    await using stub = await startHttpStub((_, response) => response.end())
    await using client = clientWith()
    const failure = await failureAt(stub.url.replace('http:', 'https:'), client)
    expect(failure).toMatchObject({ message: 'host db cannot be reached: it does not speak TLS at its port' })
  })

  it('has a name that the resolver does not know is told as that, also when somebody brought it', async () => {
    const url = 'http://nothing.invalid:8123'
    await using client = clientWith()
    await using net = openNet({ env: { SVC_ALLOW_PRIVATE_HOSTS: 'true' } })
    const unknown = {
      code: 'unavailable',
      message: 'host db cannot be reached: the resolver does not know its host name',
      details: { reason: 'unreachable' },
    }
    expect(await failureAt(url, client)).toMatchObject(unknown)
    const brought = { ...hostAt(url), key: 'user:a:b', connect: net.connect }
    await expect(client.run(brought, statement, aCall())).rejects.toMatchObject(unknown)
  })

  it('resets connections is unreachable, after one more try', async () => {
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

  it('hangs ends in time as a timeout', async () => {
    await using stub = await startTcpStub((socket) => socket.resume())
    await using client = clientWith()
    const started = performance.now()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'timeout', details: { reason: 'timeout' } })
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  it('hangs over a statement that reads Keeper tells that its Keeper does not answer', async () => {
    await using stub = await startHttpStub(() => undefined)
    await using client = clientWith()
    const asked = client.run(hostAt(stub.url), { ...statement, readsKeeper: true }, aCall())
    await expect(asked).rejects.toMatchObject({
      code: 'timeout',
      message: 'host db: its Keeper does not answer, from which this would be read',
    })
    await using late = await startHttpStub((_, response) =>
      response.writeHead(417).end('Code: 159. DB::Exception: Timeout exceeded: elapsed 10009 ms. (TIMEOUT_EXCEEDED)'),
    )
    await expect(client.run(hostAt(late.url), { ...statement, readsKeeper: true }, aCall())).rejects.toMatchObject({
      message: 'host db: its Keeper does not answer, from which this would be read',
    })
    const impatient = aCall({ deadline: performance.now() + 500 })
    await expect(client.run(hostAt(stub.url), { ...statement, readsKeeper: true }, impatient)).rejects.toMatchObject({
      message: 'host db did not answer in time',
    })
  })

  it('hangs in the middle of its answer ends in time as a timeout', async () => {
    await using stub = await startHttpStub((_, response) => void response.write('{"meta":[],'))
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'timeout' })
  })

  it('sends its answer slowly but in time is waited for', async () => {
    await using stub = await startHttpStub((_, response) => {
      response.write('{"meta":[{"name":"a","type":"UInt64"}],')
      response.once('drain', () => undefined)
      setTimeout(() => response.end('"data":[["42"]]}'), 300)
    })
    await using client = clientWith()
    expect((await client.run(hostAt(stub.url), statement, aCall())).rows).toEqual([[42]])
  })

  it.each([
    [401, 'who are you', 'refused'],
    [403, 'Code: 516. DB::Exception: spy: Authentication failed. (AUTHENTICATION_FAILED)', 'refused'],
    [200, '<html>Welcome to nginx!</html>', 'garbage'],
    [200, '{"some":"json"}', 'garbage'],
    [502, 'Bad Gateway at 127.0.0.1', 'garbage'],
    [302, '', 'garbage'],
  ])('answers %i %j counts as %s', async (status, body, reason) => {
    await using stub = await startHttpStub((_, response) => response.writeHead(status).end(body), 'none')
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { reason } })
  })

  it('says far too much to a short question counts as garbage, and is not read to its end', async () => {
    let isRead = false
    await using stub = await startHttpStub((_, response) => {
      response.write('{"meta":[{"name":"a","type":"UInt8"}],"data":[')
      response.write('[1],'.repeat(4_000_000), () => (isRead = true))
    }, 'none')
    await using client = clientWith({ COLUMNDB_MAX_EXECUTION_TIME: '30' })
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { reason: 'garbage' } })
    expect(isRead).toBe(false)
  })

  it('speaks no HTTP counts as garbage', async () => {
    await using stub = await startTcpStub((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { reason: 'garbage' } })
  })

  it('fails after its first byte fails with the exception that it wrote', async () => {
    const text =
      '{"meta":[{"name":"a","type":"UInt8"}],"data":[[1],Code: 241. DB::Exception: Memory limit exceeded. (MEMORY_LIMIT_EXCEEDED)'
    await using stub = await startHttpStub((_, response) => response.end(text))
    await using client = clientWith()
    expect(await failureAt(stub.url, client)).toMatchObject({ code: 'unavailable', details: { clickhouseCode: 241 } })
  })
})

describe('a host that answers nothing, not even the probe', () => {
  const patient = () => {
    const silence = openSilence(20)
    return { silence, client: openClient({ env: {}, telemetry: quietTelemetry(), clock: systemClock, silence }) }
  }

  it('is not waited for longer where it has never answered', async () => {
    await using stub = await startTcpStub(() => undefined)
    const { silence, client } = patient()
    await using _ = client
    const host = hostAt(stub.url)
    silence.tell(host, true)
    await expect(client.run(host, statement, aCall())).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('ends what runs on it and what is asked then, names itself, and gives all turns back', async () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>()
    await using stub = await startHttpStub(() => resolve())
    const { silence, client } = patient()
    await using _ = client
    const host = hostAt(stub.url)
    const inFlight = client.run(host, statement, aCall()).catch((error: unknown) => error)
    await reached
    silence.tell(host, true)
    const told = { code: 'unavailable', message: expect.stringContaining('host db has stopped answering') }
    expect(await inFlight).toMatchObject(told)
    await expect(client.run(host, { what: 'test', sql: 'SELECT 43' }, aCall())).rejects.toMatchObject(told)
    await expect(client.stream(host, statement, aCall())).rejects.toMatchObject(told)
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBeLessThan(2)
  })

  it('ends the rows that stopped coming', async () => {
    await using stub = await startHttpStub((_, response) => void response.write('{"a":1}\n'))
    const { silence, client } = patient()
    await using _ = client
    const host = hostAt(stub.url)
    const { body } = await client.stream(host, statement, aCall())
    expect((await body.take())?.toString()).toBe('{"a":1}\n')
    silence.tell(host, true)
    await expect(body.take()).rejects.toMatchObject({ code: 'unavailable', details: { host: 'db' } })
  })

  it('is answered for as before when it answers the probe again', async () => {
    const waiting: (() => void)[] = []
    const second = { what: 'test', sql: 'SELECT 43' }
    await using stub = await startHttpStub(({ sql }, response) => {
      // The first may arrive at any time: it is given up after some milliseconds.
      if (sql.includes(second.sql)) waiting.push(() => rows(response, [['43']]))
    })
    const { silence, client } = patient()
    await using _ = client
    const host = hostAt(stub.url)
    silence.tell(host, true)
    await expect(client.run(host, statement, aCall())).rejects.toMatchObject({ code: 'unavailable' })
    silence.tell(host, false)
    const asked = client.run(host, second, aCall())
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(1)
    waiting[0]?.()
    expect((await asked).rows).toEqual([['43']])
  })
})

describe('a full host', () => {
  it('never has more statements than COLUMNDB_POOL_SIZE, and answers busy instead of queueing for long', async () => {
    let running = 0
    let most = 0
    await using stub = await startHttpStub(({ url }, response) => {
      if (url.searchParams.get('log_comment')?.includes('kill')) return response.end()
      most = Math.max(most, ++running)
      response.on('close', () => running--)
    })
    await using client = clientWith({ COLUMNDB_POOL_SIZE: '3', COLUMNDB_MAX_EXECUTION_TIME: '4' })
    const host = hostAt(stub.url)
    const asked = Array.from({ length: 60 }, (_, index) =>
      client.run(host, { what: 'test', sql: `SELECT ${index}` }, aCall()).catch((error: unknown) => error),
    )
    const codes = (await Promise.all(asked)).map((error) =>
      error instanceof Error && 'code' in error ? error.code : 'answered',
    )
    expect(most).toBe(3)
    expect(codes.filter((code) => code === 'timeout')).toHaveLength(3)
    expect(codes.filter((code) => code === 'busy')).toHaveLength(57)
  })
})

describe('connections', () => {
  it('are closed when nobody used them for COLUMNDB_POOL_TIMEOUT', async () => {
    await using stub = await startHttpStub((_, response) => rows(response, [['42']]))
    await using client = clientWith({ COLUMNDB_POOL_TIMEOUT: '200', COLUMNDB_POOL_CLEANUP_INTERVAL: '50' })
    await client.run(hostAt(stub.url), statement, aCall())
    expect(stub.open).toBeGreaterThan(0)
    await expect.poll(() => stub.open, { timeout: 5_000 }).toBe(0)
    expect((await client.run(hostAt(stub.url), statement, aCall())).rows).toEqual([['42']])
  })

  it('that the host closed meanwhile cost nobody an error', async () => {
    await using stub = await startHttpStub(({ request }, response) => {
      rows(response, [['42']])
      response.on('finish', () => request.socket.destroy())
    })
    await using client = clientWith()
    for (let round = 0; round < 20; round++) {
      const asked = [1, 2, 3].map((index) =>
        client.run(hostAt(stub.url), { what: 'test', sql: `SELECT ${round}, ${index}` }, aCall()),
      )
      for (const answer of await Promise.all(asked)) expect(answer.rows).toEqual([['42']])
    }
  })
})

describe('equal questions', () => {
  const counting = async (env: Record<string, string>, cache: 'realtime' | undefined) => {
    let statements = 0
    await using stub = await startHttpStub((_, response) => {
      statements++
      setImmediate(() => rows(response, [['42']]))
    })
    await using client = clientWith(env)
    const host = hostAt(stub.url)
    const ask = () => client.run(host, { ...statement, cache }, aCall())
    await client.capabilities(host, aCall())
    await Promise.all(Array.from({ length: 8 }, ask))
    await ask()
    return statements
  }

  it('become one statement while it runs, and none while its answer is fresh', async () => {
    expect(await counting({}, undefined)).toBe(2)
    expect(await counting({}, 'realtime')).toBe(1)
  })

  it('are asked each time with SVC_QUERY_CACHE off', async () => {
    expect(await counting({ SVC_QUERY_CACHE: 'off' }, 'realtime')).toBe(9)
  })
})

describe('a user whose profile is read-only', () => {
  it('is asked for nothing but the statement, and never kills', async () => {
    const paths: string[] = []
    await using stub = await startHttpStub(
      ({ url }, response) => {
        paths.push([...url.searchParams.keys()].join(' '))
        rows(response, [['42']])
      },
      { readonly: 1 },
    )
    await using client = clientWith()
    await client.run(hostAt(stub.url), statement, aCall())
    expect(paths).toEqual(['query_id default_format'])
  })
})

describe('statements', () => {
  it('are counted by host and outcome', async () => {
    const telemetry = quietTelemetry()
    await using stub = await startHttpStub(({ sql }, response) => {
      if (sql === 'SELECT 42') rows(response, [['42']])
      else response.writeHead(500).end('Code: 62. DB::Exception: No. (SYNTAX_ERROR)')
    })
    await using client = clientWith({}, telemetry)
    const host = hostAt(stub.url)
    await client.run(host, statement, aCall())
    await client.run(host, { what: 'test', sql: 'SELEKT' }, aCall()).catch(() => undefined)
    const exposed = await telemetry.metrics.metrics()
    const counted = (outcome: string) =>
      `watchhouse_query_statement_duration_seconds_count{host="db",outcome="${outcome}"}`
    expect(exposed).toContain(`${counted('ok')} 1`)
    expect(exposed).toContain(`${counted('invalid')} 1`)
    expect(exposed).toContain('watchhouse_query_statements_running{host="db"} 0')
  })
})

describe('a long answer', () => {
  it('comes in pieces as large as the bus carries, when it comes faster than it is taken', async () => {
    const row = `${JSON.stringify({ text: 'x'.repeat(1_000) })}\n`
    await using stub = await startHttpStub((_, response) => response.end(row.repeat(2_000)))
    await using client = clientWith()
    const { body } = await client.stream(hostAt(stub.url), statement, aCall())
    const sizes: number[] = []
    for (let piece = await body.take(); piece; piece = await body.take()) {
      sizes.push(piece.length)
      for (let turn = 0; turn < 50; turn++) await nextTurn()
    }
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(row.length * 2_000)
    expect(Math.max(...sizes)).toBeGreaterThanOrEqual(frameBytes / 2)
  })

  it('waits at the host while nobody takes it', async () => {
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
    const { body } = await client.stream(hostAt(stub.url), statement, aCall())
    await body.take()
    let before = -1
    // The kernel's buffers fill for a while; then nothing more goes in.
    const standsStill = () => before === (before = sent)
    await expect.poll(standsStill, { interval: 100 }).toBe(true)
    expect(sent).toBeLessThan(chunks / 2)
    body.leave()
  })
})
