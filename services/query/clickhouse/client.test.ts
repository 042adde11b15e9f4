import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '#shared/time/clock.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { validateHostList, type MonitoredHost } from '../hosts/host-list.ts'
import { createCall, createSilentTelemetry } from '../testing/test-service.ts'
import { type DatabaseClient, openClient } from './client.ts'

let sandbox: Sandbox
let client: DatabaseClient

beforeAll(async () => {
  sandbox = await startSandbox()
  client = openClient({ env: {}, telemetry: createSilentTelemetry(), clock: systemClock })
}, 120_000)
afterAll(async () => {
  await client?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const as = (
  user: string,
  password = sandbox.users.find((each) => each.user === user)?.password ?? '',
): MonitoredHost => {
  const [host] = validateHostList('COLUMNDB_HOST', [{ url: sandbox.url, label: `as ${user}`, user, password }]).hosts
  if (!host) throw new Error('invalid host URL in test data')
  return host
}
/** A statement that runs until it is killed. */
const endless = 'SELECT sum(cityHash64(number)) FROM system.numbers'

/** Returns the number of running statements that contain `text`, as seen by another user. */
const running = async (text: string): Promise<number> => {
  const sql = 'SELECT count() FROM system.processes WHERE position(query, {text:String}) > 0 AND query_id != queryID()'
  const { rows } = await client.run(as('watchhouse'), { what: 'test', sql, parameters: { text } }, createCall())
  return Number(rows[0]?.[0])
}

describe('a statement', () => {
  it('returns 64-bit integers as numbers when they fit, else as text', async () => {
    const sql =
      "SELECT toUInt64(5) AS small, 18446744073709551615 AS large, toInt64(-7) AS negative, nan AS nothing, 'x' AS text"
    const result = await client.run(as('default'), { what: 'test', sql }, createCall())
    expect(result.columns.map((column) => column.name)).toEqual(['small', 'large', 'negative', 'nothing', 'text'])
    expect(result.rows).toEqual([[5, '18446744073709551615', -7, null, 'x']])
    expect(result.clickhouseVersion).toMatch(/^\d+\.\d+/)
  })

  it('binds values with special characters', async () => {
    const text = "it's \\ a\ttab\nand 'DROP TABLE x' -- ü \u0000 end"
    const statement = { what: 'test', sql: 'SELECT {text:String} AS text', parameters: { text } }
    expect((await client.run(as('default'), statement, createCall())).rows).toEqual([[text]])
  })

  it('is counted by source, with the rows and bytes that the host has read', async () => {
    const telemetry = createSilentTelemetry()
    await using own = openClient({ env: {}, telemetry, clock: systemClock })
    const statement = { what: 'test', cache: 'standard', sql: 'SELECT count() FROM numbers(1000)' } as const
    const run = () => own.run(as('default'), statement, createCall())
    await Promise.all([run(), run()])
    await run()
    const exposition = await telemetry.metrics.metrics()
    const valueOf = (name: string) => Number(new RegExp(`^watchhouse_query_${name} (\\d+)$`, 'm').exec(exposition)?.[1])
    const results = ['host', 'shared', 'cache'].map((source) => valueOf(`answers_total\\{source="${source}"\\}`))
    expect(results).toEqual([1, 1, 1])
    expect(valueOf('read_rows_total\\{host="as default"\\}')).toBe(1000)
    expect(valueOf('read_bytes_total\\{host="as default"\\}')).toBe(8000)
  })

  it('cannot write', async () => {
    const writing = client.run(
      as('default'),
      { what: 'test', sql: 'CREATE TABLE t (a UInt8) ENGINE = Memory' },
      createCall(),
    )
    await expect(writing).rejects.toMatchObject({ details: { clickhouseCode: 164 } })
  })

  it('runs for a user with a read-only profile', async () => {
    expect((await client.run(as('analyst'), { what: 'test', sql: 'SELECT 1' }, createCall())).rows).toEqual([[1]])
    expect((await client.capabilities(as('analyst'), createCall())).readonly).toBe(1)
  })

  it('fails as refused with a wrong password', async () => {
    const run = client.run(as('watchhouse', 'wrong'), { what: 'test', sql: 'SELECT 1' }, createCall())
    await expect(run).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'refused' } })
  })

  it('can be found in query_log by its id and its log comment', async () => {
    const { queryId } = await client.run(as('default'), { what: 'test/tag', sql: "SELECT 'tagged'" }, createCall())
    const sql = "SELECT any(log_comment) FROM system.query_log WHERE query_id = {id:String} AND type = 'QueryFinish'"
    const readComment = async () =>
      (await client.run(as('default'), { what: 'test', sql, parameters: { id: queryId } }, createCall())).rows[0]?.[0]
    await expect.poll(readComment, { timeout: 10_000 }).toBe('{"watchhouse":"test/tag"}')
  })
})

describe('a caller who leaves', () => {
  it('ends the statement on the host', async () => {
    const left = new AbortController()
    const sql = `${endless} -- abandoned`
    const run = client
      .run(as('default'), { what: 'test', sql }, createCall({ signal: left.signal }))
      .catch((error: unknown) => error)
    await expect.poll(() => running('abandoned'), { timeout: 10_000 }).toBe(1)
    left.abort(new Error('left'))
    expect(await run).toMatchObject({ message: 'left' })
    await expect.poll(() => running('abandoned'), { timeout: 10_000 }).toBe(0)
  })

  it('ends the statement of a stream and releases its slot', async () => {
    const sql = "SELECT number, repeat('x', 1000) AS text FROM numbers(100000000) -- halfway"
    const { body } = await client.stream(as('default'), { what: 'test', sql }, createCall())
    expect((await body.take())?.length).toBeGreaterThan(0)
    body.leave()
    await expect.poll(() => running('halfway'), { timeout: 10_000 }).toBe(0)
  })

  it('gets a timeout at the deadline, which ends the statement', async () => {
    const started = performance.now()
    const run = client.run(
      as('default'),
      { what: 'test', sql: `${endless} -- overdue` },
      createCall({ deadline: performance.now() + 800 }),
    )
    await expect(run).rejects.toMatchObject({ code: 'timeout', details: { host: 'as default' } })
    expect(performance.now() - started).toBeLessThan(2_000)
    await expect.poll(() => running('overdue'), { timeout: 10_000 }).toBe(0)
  })
})

describe('a table', () => {
  it.each([
    ['system.query_log', 'present'],
    ['system.no_such_log', 'missing'],
    ['no_such_database.t', 'missing'],
  ])('%s is %s', async (table, presence) => {
    expect(await client.presence(as('default'), table, createCall())).toBe(presence)
  })
})
