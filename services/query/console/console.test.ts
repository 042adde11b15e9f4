import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { CallContext } from '#proto/call.ts'
import type { ResultFormat } from '#proto/console.ts'
import { query } from '#proto/query.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import corpus from '../read-only/corpus.json' with { type: 'json' }
import { createCall, createTwoUserSettings, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
/** A statement that runs until it is killed. */
const endless = 'SELECT sum(cityHash64(number)) FROM system.numbers'

let sandbox: Sandbox
let parts: TestService

const poolSize = 4
const environment = () => ({
  ...createTwoUserSettings(sandbox.url),
  COLUMNDB_POOL_SIZE: String(poolSize),
  SVC_TABLE_MAX_RESULT_ROWS: '3000',
})

/** Queries the engine directly, without the service. */
const direct = async (sql: string, more: Record<string, string> = {}): Promise<string> => {
  const response = await fetch(`${sandbox.url}/?${new URLSearchParams(more).toString()}`, { method: 'POST', body: sql })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text
}

beforeAll(async () => {
  sandbox = await startSandbox()
  await direct('CREATE DATABASE console')
  await direct('CREATE TABLE console.events (id UInt64, text String) ENGINE = MergeTree ORDER BY id')
  await direct("INSERT INTO console.events SELECT number, repeat('x', number % 50) FROM numbers(5000)")
  parts = await openTestService(environment())
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

type More = Partial<z.input<typeof query.methods.streamQuery.input>>

const run = async (sql: string, more: More = {}, call: CallContext = createCall()) => {
  const input = query.methods.runQuery.input.parse({ hostKey: 'box', query: sql, ...more })
  return query.methods.runQuery.output.parse(await parts.handlers.runQuery(input, call))
}

const stream = async (sql: string, more: More = {}, call: CallContext = createCall()) => {
  const input = query.methods.streamQuery.input.parse({ hostKey: 'box', query: sql, ...more })
  const { head, frames } = await parts.handlers.streamQuery(input, call)
  const chunks: Uint8Array[] = []
  let next = await frames.next()
  for (; !next.done; next = await frames.next()) chunks.push(Buffer.from(next.value))
  return { head, text: Buffer.concat(chunks).toString('utf8'), tail: next.value }
}

/** Returns the number of running statements on the host that contain `text`. */
const running = async (text: string): Promise<number> =>
  Number(
    await direct(
      'SELECT count() FROM system.processes WHERE position(query, {text:String}) > 0 AND query_id != queryID()',
      {
        param_text: text,
      },
    ),
  )
const untilRunning = (text: string, count: number): Promise<void> =>
  expect.poll(() => running(text), { timeout: 20_000, interval: 20 }).toBe(count)

describe.each(['box', 'careful'])('a statement of a caller on the host %s', (hostKey) => {
  it('returns columns with types, and values with all digits', async () => {
    const sql = "SELECT 18446744073709551615 AS large, 7 :: Int64 AS small, [9007199254740993] AS many, 'ö\n' AS text"
    const { columns, rows, truncated, statement } = await run(sql, { hostKey })
    expect(columns).toEqual([
      { name: 'large', type: 'UInt64' },
      { name: 'small', type: 'Int64' },
      { name: 'many', type: 'Array(UInt64)' },
      { name: 'text', type: 'String' },
    ])
    expect(rows).toEqual([['18446744073709551615', 7, ['9007199254740993'], 'ö\n']])
    expect(truncated).toBeNull()
    expect(statement).toMatchObject({ host: hostKey, rows: 1, sql })
  })

  it.each([
    [4_999, 3_000, { reason: 'rows', limit: 3_000, returned: 3_000 }],
    [100, 100, { reason: 'rows', limit: 100, returned: 100 }],
  ])('with a limit of %d rows returns %d and reports that there are more', async (maxRows, returned, truncated) => {
    const result = await run('SELECT id FROM console.events ORDER BY id', { hostKey, maxRows })
    expect(result.rows).toEqual(Array.from({ length: returned }, (_, id) => [id]))
    expect(result.truncated).toEqual(truncated)
  })

  it('is not truncated when it has exactly as many rows as the limit', async () => {
    const { rows, truncated } = await run('SELECT id FROM console.events LIMIT 100', { hostKey, maxRows: 100 })
    expect([rows.length, truncated]).toEqual([100, null])
  })

  it('is truncated before the row that exceeds the byte limit', async () => {
    const whole = await direct('SELECT toString(id), text FROM console.events ORDER BY id FORMAT JSONCompactEachRow')
    const maxBytes = 5_000
    const fitting = whole.lastIndexOf('\n', maxBytes - 1) + 1
    const { text, tail } = await stream('SELECT toString(id), text FROM console.events ORDER BY id', {
      hostKey,
      maxBytes,
    })
    expect(text).toBe(whole.slice(0, fitting))
    const returned = text.split('\n').length - 1
    expect(tail.truncated).toEqual({ reason: 'bytes', limit: maxBytes, returned })
  })

  it('without an end is truncated at the limit', async () => {
    const { rows, truncated } = await run('SELECT number FROM system.numbers', { hostKey, maxRows: 5 })
    expect(rows).toEqual([[0], [1], [2], [3], [4]])
    expect(truncated).toEqual({ reason: 'rows', limit: 5, returned: 5 })
  })

  it.each([
    ['csv', 'CSVWithNames'],
    ['tsv', 'TSVWithNames'],
    ['jsoneachrow', 'JSONEachRow'],
  ] satisfies [ResultFormat, string][])('returns %s exactly as the host formats it', async (format, name) => {
    const sql = "SELECT toUInt32(id) AS id, concat(text, '\"\n\t') AS text FROM console.events ORDER BY id LIMIT 60"
    const { text, head, tail } = await stream(`${sql} FORMAT Pretty;`, { hostKey, format })
    expect(text).toBe(await direct(`${sql} FORMAT ${name}`))
    expect([head.columns, tail.truncated, tail.statement.rows]).toEqual([null, null, 60])
  })

  it('returns all requested rows in a file, beyond the row cap of pages', async () => {
    const { text, tail } = await stream('SELECT id FROM console.events', { hostKey, format: 'tsv', maxRows: 4_999 })
    expect(text.trimEnd().split('\n').length - 1).toBe(4_999)
    expect(tail.truncated).toEqual({ reason: 'rows', limit: 4_999, returned: 4_999 })
  })

  it('accepts parameters and a default database', async () => {
    const parameters = { low: 7, text: "it's" }
    const sql = 'SELECT count(), {text:String} FROM events WHERE id < {low:UInt64}'
    expect((await run(sql, { hostKey, parameters, database: 'console' })).rows).toEqual([[7, "it's"]])
  })

  it.each(['EXPLAIN SELECT 1', 'DESCRIBE console.events', 'WITH 1 AS x SELECT x', 'SELECT 1 WHERE 0'])(
    'may be %s',
    async (sql) => {
      const { columns } = await run(sql, { hostKey })
      expect(columns.length).toBeGreaterThan(0)
    },
  )

  it.each([
    'EXPLAIN SELECT 1',
    '/* why */ explain syntax SELECT id FROM console.events',
    'EXPLAIN QUERY TREE SELECT 1',
  ])('%s shows no limit that the caller did not write', async (sql) => {
    const { rows } = await run(sql, { hostKey })
    expect(rows.flat().join('\n')).not.toMatch(/limit/i)
  })

  it.each([
    ['SELECT nothing FROM console.events', 47, 'UNKNOWN_IDENTIFIER'],
    ['SELECT * FROM console.missing', 60, 'UNKNOWN_TABLE'],
    ["SELECT toUInt8('x')", 6, 'CANNOT_PARSE_TEXT'],
    ['SELECT throwIf(1)', 395, 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
  ])('%s fails with the ClickHouse code and name', async (sql, clickhouseCode, clickhouseName) => {
    const failure = run(sql, { hostKey })
    await expect(failure).rejects.toMatchObject({ code: 'invalid', details: { clickhouseCode, clickhouseName } })
  })

  it('fails with the position of a syntax error', async () => {
    const failure = run('SELECT 1\nFROM', { hostKey })
    await expect(failure).rejects.toMatchObject({
      message: expect.stringContaining('line 2'),
      details: { parameter: 'query', position: 13, clickhouseCode: 62 },
    })
  })

  it.each(['json', 'csv', 'tsv', 'jsoneachrow'] as const)(
    'fails when the host fails after the first rows: %s',
    async (format) => {
      // The host sends blocks of about 65,000 rows and computes a few ahead. Rows arrive before the tenth block fails.
      const sql = 'SELECT throwIf(number = 600000) FROM numbers(700000)'
      await using wide = await openTestService({ ...environment(), SVC_TABLE_MAX_RESULT_ROWS: '0' })
      const input = query.methods.streamQuery.input.parse({ hostKey, query: sql, format, maxRows: 800_000 })
      const { frames } = await wide.handlers.streamQuery(input, createCall())
      expect((await frames.next()).done).toBe(false)
      const rest = async (): Promise<void> => {
        while (!(await frames.next()).done);
      }
      await expect(rest()).rejects.toMatchObject({ code: 'invalid', details: { clickhouseCode: 395 } })
    },
  )
})

describe('a cluster', () => {
  it('gives access to non-system tables only when the operator allows it', async () => {
    const sql = "SELECT * FROM clusterAllReplicas('nowhere', console.events)"
    await expect(run(sql)).rejects.toMatchObject({ code: 'invalid', details: { reason: 'cluster' } })
    await using open = await openTestService({ ...environment(), SVC_QUERY_CLUSTER_TABLES: 'true' })
    const input = query.methods.runQuery.input.parse({ hostKey: 'box', query: sql })
    // The statement passes the read-only check and fails only because the cluster does not exist.
    await expect(open.handlers.runQuery(input, createCall())).rejects.toMatchObject({
      details: { clickhouseName: expect.stringMatching(/CLUSTER/) },
    })
  })
})

describe('limits', () => {
  it.each([
    // ClickHouse rejects a single block of 12 GB before it allocates the memory, so the test is fast.
    ['SELECT sum(length(randomString(200000))) FROM numbers(60000)', {}, 'too-large', 241],
    [endless, { maxSeconds: 1 }, 'timeout', 159],
  ])('%s exceeds them', async (sql, more, code, clickhouseCode) => {
    await expect(run(sql, more)).rejects.toMatchObject({ code, details: { clickhouseCode } })
  })

  /** Fills the pool of the host and returns a function that ends the statements. */
  const fillPool = async (text: string) => {
    const left = new AbortController()
    const all = Array.from({ length: poolSize }, () =>
      run(`${endless} -- ${text}`, {}, createCall({ signal: left.signal })).catch(() => 'ended'),
    )
    await untilRunning(text, poolSize)
    return async () => {
      left.abort()
      expect(await Promise.all(all)).toEqual(all.map(() => 'ended'))
    }
  }

  it('let callers run COLUMNDB_POOL_SIZE statements on a host', async () => {
    const end = await fillPool('all of the pool')
    await expect(run('SELECT 1')).rejects.toMatchObject({ code: 'busy', retryAfterMs: expect.any(Number) })
    await expect(run('SELECT 1', { hostKey: 'careful' })).resolves.toBeDefined()
    await end()
    await expect(run('SELECT 1')).resolves.toBeDefined()
  })

  it('reserve statements for sweeps while callers fill the pool', async () => {
    const end = await fillPool('none for sweeps')
    const rules = ['total-parts', 'mutations-pending', 'disk-usage', 'longest-query', 'query-fail-rate']
    const { readings } = await parts.handlers.evaluateRules({ hostKey: 'box', rules, metrics: [] }, createCall())
    expect(readings.filter(({ value }) => value === null)).toEqual([])
    await end()
  })
})

describe('a caller who', () => {
  it.each(['before the first row', 'after it'])('leaves %s ends the statement on the host', async (when) => {
    const left = new AbortController()
    const text = `left ${when}`
    const sql = when === 'after it' ? `SELECT number FROM system.numbers -- ${text}` : `${endless} -- ${text}`
    const input = query.methods.streamQuery.input.parse({ hostKey: 'box', query: sql })
    const beginning = parts.handlers.streamQuery(input, createCall({ signal: left.signal })).catch(() => undefined)
    if (when === 'after it') await (await beginning)?.frames.next()
    else await untilRunning(text, 1)
    left.abort()
    await untilRunning(text, 0)
  })

  it('cancels their own run ends it, and other callers cannot', async () => {
    const text = 'cancelled'
    const failure = run(`${endless} -- ${text}`, { runId: 'mine' }).catch((error: unknown) => error)
    await untilRunning(text, 1)
    await expect(run('SELECT 1', { runId: 'mine' })).rejects.toMatchObject({ code: 'conflict' })
    const other = createCall({ identity: { kind: 'user', subject: 'other', features: 'all' } })
    const cancel = (call: CallContext, hostKey = 'box') => parts.handlers.cancelQuery({ hostKey, runId: 'mine' }, call)
    await expect(cancel(other)).rejects.toMatchObject({ code: 'not-found' })
    await expect(cancel(createCall(), 'careful')).rejects.toMatchObject({ code: 'not-found' })
    const readProgress = (call: CallContext) => parts.handlers.runProgress({ hostKey: 'box', runId: 'mine' }, call)
    await expect.poll(async () => (await readProgress(createCall()))?.rowsRead).toBeGreaterThan(0)
    expect(await readProgress(other)).toBeNull()
    expect(await cancel(createCall())).toEqual({ cancelled: true })
    expect(await failure).toMatchObject({ code: 'gone' })
    await untilRunning(text, 0)
    await expect(cancel(createCall())).rejects.toMatchObject({ code: 'not-found' })
  })
})

describe('the corpus of statements', () => {
  it('does not reach the host when rejected, and fails with reason and position', async () => {
    const reached: string[] = []
    for (const { sql, verdict: expected } of corpus) {
      if (expected !== 'reject') continue
      const failure: unknown = await run(sql).catch((error: unknown) => error)
      const isRejected =
        failure instanceof Error && 'details' in failure && Object.hasOwn(Object(failure.details), 'reason')
      if (!isRejected) reached.push(sql)
    }
    expect(reached).toEqual([])
  })

  it('reaches the host when accepted', async () => {
    const rejected: string[] = []
    for (const { sql, verdict: expected } of corpus) {
      if (expected !== 'accept') continue
      const failure: unknown = await run(sql, { maxSeconds: 5 }).catch((error: unknown) => error)
      if (
        failure instanceof Error &&
        !('details' in failure && Object.hasOwn(Object(failure.details), 'clickhouseCode'))
      ) {
        rejected.push(`${sql}: ${failure.message}`)
      }
    }
    expect(rejected).toEqual([])
  })
})
