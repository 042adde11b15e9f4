import { request } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { curl } from './curl.ts'
import { type Sandbox, startSandbox } from './start.ts'

let sandbox: Sandbox
let url: string

beforeAll(async () => {
  sandbox = await startSandbox({ label: 'protocol', password: 'open sesame' })
  url = sandbox.url
})
afterAll(() => sandbox[Symbol.asyncDispose]())

describe('responses', () => {
  it('returns Ok. for a ping and for the replica check', async () => {
    for (const path of ['/', '/ping', '/replicas_status']) {
      const answer = await fetch(url + path)
      expect([answer.status, await answer.text()]).toEqual([200, 'Ok.\n'])
    }
  })

  it('describes the host and the statement in the headers', async () => {
    const { status, headers, text } = await curl(url, 'SELECT number FROM numbers(3)', {
      query: { query_id: 'described', default_format: 'JSONEachRow', wait_end_of_query: 1 },
    })
    expect(status).toBe(200)
    expect(text).toBe('{"number":0}\n{"number":1}\n{"number":2}\n')
    expect(headers.get('x-clickhouse-query-id')).toBe('described')
    expect(headers.get('x-clickhouse-format')).toBe('JSONEachRow')
    expect(headers.get('x-clickhouse-server-display-name')).toBe('protocol')
    expect(headers.get('x-clickhouse-timezone')).not.toBe('')
    expect(JSON.parse(headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ read_rows: '3', result_rows: '3' })
  })

  it.each([
    ['SELECT * FROM nowhere', 404, 60, 'UNKNOWN_TABLE'],
    ['SELECT missing FROM system.one', 404, 47, 'UNKNOWN_IDENTIFIER'],
    ['SELEC 1', 400, 62, 'SYNTAX_ERROR'],
    ["SELECT toUInt8('x')", 400, 6, 'CANNOT_PARSE_TEXT'],
    ['SELECT 1 SETTINGS no_such_setting = 1', 404, 115, 'UNKNOWN_SETTING'],
    ['SELECT * FROM numbers(1e6) SETTINGS max_result_rows = 10', 500, 396, 'TOO_MANY_ROWS_OR_BYTES'],
    [
      'SELECT count() FROM system.numbers SETTINGS max_execution_time = 0.3, timeout_before_checking_execution_speed = 0',
      408,
      159,
      'TIMEOUT_EXCEEDED',
    ],
    ['SELECT getSetting(1', 400, 62, 'SYNTAX_ERROR'],
  ])('answers %s with the status, code and name of ClickHouse', async (sql, status, code, name) => {
    const answer = await curl(url, sql)
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe(String(code))
    expect(answer.text).toMatch(new RegExp(`^Code: ${code}\\. DB::Exception: .*\\(${name}\\) \\(version 26\\.`, 's'))
    expect(answer.status).toBe(status)
  })

  it('reports an error in the middle of a result in the result itself', async () => {
    const sql =
      "SELECT throwIf(number = 3, 'late failure'), sleepEachRow(0.05) FROM numbers(5) SETTINGS max_block_size = 1, http_response_buffer_size = 0"
    const body = await curl(url, sql, { query: { http_write_exception_in_output_format: 0 } }).then(
      ({ text }) => text,
      (error: unknown) => String(error),
    )
    expect(body).toMatch(/late failure|terminated/)
  })

  it('compresses the body in an encoding that the client accepts', async () => {
    const { promise, resolve, reject } = Promise.withResolvers<{ encoding?: string; text: string }>()
    const path = '/?enable_http_compression=1&query=SELECT+count()+FROM+numbers(10)'
    request(`${url}${path}`, { headers: { 'accept-encoding': 'gzip' } }, (answer) => {
      buffer(answer)
        .then((bytes) => resolve({ encoding: answer.headers['content-encoding'], text: gunzipSync(bytes).toString() }))
        .catch(reject)
    }).end()
    expect(await promise).toEqual({ encoding: 'gzip', text: '10\n' })
  })
})

describe('users', () => {
  const whoAmI = 'SELECT currentUser()'

  it.each([
    ['headers', { headers: { 'X-ClickHouse-User': 'watchhouse', 'X-ClickHouse-Key': 'open sesame' } }],
    ['Basic', { headers: { Authorization: `Basic ${Buffer.from('watchhouse:open sesame').toString('base64')}` } }],
    ['the URL', { query: { user: 'watchhouse', password: 'open sesame' } }],
  ])('are recognized by %s', async (_, credentials) => {
    expect(await curl(url, whoAmI, credentials)).toMatchObject({ status: 200, text: 'watchhouse\n' })
  })

  it('are rejected with a wrong password or name', async () => {
    for (const user of ['watchhouse', 'stranger']) {
      const answer = await curl(url, whoAmI, { query: { user, password: 'guess' } })
      expect(answer.status).toBe(403)
      expect(answer.headers.get('x-clickhouse-exception-code')).toBe('516')
      expect(answer.text).toContain('(AUTHENTICATION_FAILED)')
    }
  })

  it('cannot write or change a setting when they are read-only', async () => {
    const analyst = { user: 'analyst', password: 'analyst' }
    for (const sql of [
      'CREATE TABLE refused (x Int8) ENGINE = Memory',
      'SELECT 1 SETTINGS max_threads = 1',
      'SET max_threads = 1',
    ]) {
      const answer = await curl(url, sql, { query: analyst })
      expect(answer.headers.get('x-clickhouse-exception-code')).toBe('164')
    }
    expect((await curl(url, "SELECT getSetting('readonly')", { query: analyst })).text).toBe('1\n')
  })

  it('can be limited to some databases', async () => {
    const answer = await curl(url, 'SELECT count() FROM system.tables WHERE database = currentDatabase()', {
      query: { user: 'reports', password: 'reports' },
    })
    expect(answer.status).toBe(200)
    const refused = await curl(url, 'CREATE DATABASE mine', { query: { user: 'reports', password: 'reports' } })
    expect(refused.headers.get('x-clickhouse-exception-code')).toBe('497')
  })
})

describe('statements', () => {
  it('are read-only when sent by GET', async () => {
    const answer = await curl(url, 'CREATE TABLE by_get (x Int8) ENGINE = Memory', { method: 'GET' })
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('164')
  })

  it('take settings from the URL that apply to no other statement', async () => {
    const sql = "SELECT getSetting('max_threads')"
    const before = (await curl(url, sql)).text
    expect((await curl(url, sql, { query: { max_threads: 7 } })).text).toBe('7\n')
    expect((await curl(url, sql)).text).toBe(before)
  })

  it('take parameters by name and type', async () => {
    const hostile = "'; DROP TABLE x --"
    const answer = await curl(url, 'SELECT {text:String}, {number:UInt8} + 1', {
      query: { param_text: hostile, param_number: 41, default_format: 'JSONCompactEachRow' },
    })
    expect(JSON.parse(answer.text)).toEqual([hostile, 42])
  })

  it('insert data from the body, plain or gzip, with the statement in the URL or before the data', async () => {
    await curl(url, 'CREATE DATABASE deliveries')
    await curl(url, 'CREATE TABLE rows (x UInt32) ENGINE = MergeTree ORDER BY x', { query: { database: 'deliveries' } })
    const sql = 'INSERT INTO deliveries.rows FORMAT TSV'
    const plain = await curl(url, sql, { body: '1\n2\n' })
    expect(JSON.parse(plain.headers.get('x-clickhouse-summary') ?? '')).toMatchObject({ written_rows: '2' })
    await curl(url, sql, { body: new Uint8Array(gzipSync('3\n')), headers: { 'Content-Encoding': 'gzip' } })
    await curl(url, `${sql}\n4\n5\n`)
    expect((await curl(url, 'SELECT count(), sum(x) FROM deliveries.rows')).text).toBe('5\t15\n')
  })

  it('share state only within a named session', async () => {
    const mine = { session_id: 'mine', session_timeout: 20 }
    await curl(url, 'CREATE TEMPORARY TABLE remembered AS SELECT 1 AS x', { query: mine })
    await curl(url, 'SET max_threads = 3', { query: mine })
    const sql = "SELECT x, getSetting('max_threads') FROM remembered"
    expect((await curl(url, sql, { query: mine })).text).toBe('1\t3\n')
    expect((await curl(url, sql, { query: { session_id: 'other' } })).status).toBe(404)
    expect((await curl(url, sql)).status).toBe(404)
    const checked = await curl(url, 'SELECT 1', { query: { session_id: 'never opened', session_check: 1 } })
    expect(checked.headers.get('x-clickhouse-exception-code')).toBe('372')
  })

  it('cannot use the id of a running statement', async () => {
    const query = { query_id: 'taken' }
    const first = curl(url, 'SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1', { query })
    const running = "SELECT count() FROM system.processes WHERE query_id = 'taken'"
    await expect.poll(async () => (await curl(url, running)).text, { timeout: 10_000 }).toBe('1\n')
    const second = await curl(url, 'SELECT 1', { query })
    expect(second.headers.get('x-clickhouse-exception-code')).toBe('216')
    await curl(url, "KILL QUERY WHERE query_id = 'taken' SYNC")
    await first.catch(() => undefined)
  })
})
