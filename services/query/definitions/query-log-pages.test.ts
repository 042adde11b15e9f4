import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { openTestService, type TestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'

const hostKey = 'box'
/** The time of all log entries, in Unix seconds. The time range of every page contains it. */
const moment = Math.floor(Date.now() / 1_000)

let sandbox: Sandbox
let parts: TestService

const execute = async (sql: string, body?: string): Promise<void> => {
  const answer = await curl(sandbox.url, sql, { body })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** Returns an entry of the query log: by default, of a query that succeeded. */
const ended = (durationMs: number, more: object = {}): object => ({
  type: 'QueryFinish',
  event_date: new Date(moment * 1_000).toLocaleDateString('sv-SE'),
  event_time: moment,
  event_time_microseconds: moment,
  query_duration_ms: durationMs,
  query_kind: 'Select',
  is_initial_query: 1,
  user: 'ann',
  log_comment: 'known',
  ...more,
})
const cheap = { query: 'SELECT a FROM shop.orders WHERE b = 1', normalized_query_hash: '71', tables: ['shop.orders'] }
const dear = {
  query: 'SELECT sum(c) FROM shop.orders, shop.customers',
  normalized_query_hash: '72',
  tables: ['shop.orders', 'shop.customers', 'system.one'],
  columns: ['shop.orders.c', 'shop.customers.id'],
}
const broken = {
  type: 'ExceptionWhileProcessing',
  query: 'SELECT d FROM depot.orders',
  normalized_query_hash: '73',
  exception: 'stopped',
}
const cpu = (user: number, system: number): object => ({
  ProfileEvents: { UserTimeMicroseconds: user, SystemTimeMicroseconds: system },
})
const known = [
  ended(100, { ...cheap, ...cpu(40, 2), query_id: 'one', query_cache_usage: 'Read' }),
  ended(300, { ...cheap, ...cpu(60, 8), query_id: 'two', user: 'bob', query_cache_usage: 'Write' }),
  ended(1_600, { ...dear, ...cpu(1_000, 90), query_id: 'three', user: 'carl', memory_usage: 5_000 }),
  ended(700, { ...dear, query_id: 'three-a', initial_query_id: 'three', is_initial_query: 0, read_rows: 12 }),
  ended(0, { ...dear, query_id: 'four', type: 'ExceptionBeforeStart', exception_code: 60, exception: 'no such table' }),
  ended(420_000, { ...broken, query_id: 'timed-out', exception_code: 159 }),
  ended(60_000, { ...broken, query_id: 'killed', exception_code: 394 }),
]

beforeAll(async () => {
  sandbox = await startSandbox()
  const rows = known.map((row) => JSON.stringify(row)).join('\n')
  await execute('INSERT INTO system.query_log SETTINGS log_queries = 0 FORMAT JSONEachRow', rows)
  await execute('CREATE DATABASE depot')
  await execute(
    'CREATE TABLE depot.crates (day Date, id UInt32) ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY id TTL day + INTERVAL 90 YEAR SETTINGS old_parts_lifetime = 60',
  )
  await execute('CREATE TABLE depot.visits (day Date) ENGINE = MergeTree PARTITION BY day ORDER BY tuple()')
  await execute('SYSTEM STOP MERGES depot.crates')
  for (const month of [1, 1, 2, 3])
    await execute(`INSERT INTO depot.crates SELECT '2026-0${month}-05', number FROM numbers(10)`)
  await execute("INSERT INTO depot.visits VALUES ('2026-01-01')")
  await execute('ALTER TABLE depot.crates DETACH PARTITION 202603')
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: hostKey, SVC_QUERY_CACHE: 'off' })
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

/** Returns the rows of a page that belong to this test. */
const rowsOf = async (name: string, request: { parameters?: Record<string, string | number>; search?: string } = {}) =>
  (await readTable(parts, { hostKey, name, ...request })).rows

describe('pages of a known query log', () => {
  it('exclude users by name', async () => {
    const ids = async (exclude_users: string) =>
      (await rowsOf('history-queries', { parameters: { exclude_users }, search: 'shop.' })).map((row) => row.query_id)
    expect((await ids('')).toSorted()).toEqual(['four', 'one', 'three', 'two'])
    expect(await ids('ann, bob')).toEqual(['three'])
  })

  it('group equal statements', async () => {
    const rows = await rowsOf('slow-query-patterns', { search: 'shop.' })
    expect(rows.map((row) => [row.fingerprint, row.calls, row.total_time, row.longest, row.errors, row.users])).toEqual(
      [
        ['72', 2, 1_600, 1_600, 1, ['ann', 'carl']],
        ['71', 2, 400, 300, 0, ['ann', 'bob']],
      ],
    )
    expect(rows.map((row) => [row.cpu, row.cache_hits, row.query])).toEqual([
      [1_090, 0, 'SELECT sum(c) FROM shop.orders, shop.customers'],
      [110, 50, 'SELECT a FROM shop.orders WHERE b = ?'],
    ])
  })

  it('rank patterns by cost', async () => {
    const costs = await rowsOf('expensive-queries', { search: 'shop.' })
    expect(costs.map((row) => [row.fingerprint, row.cpu, row.user_time, row.system_time])).toEqual([
      ['72', 1_090, 1_000, 90],
      ['71', 110, 100, 10],
    ])
    const [memory] = await rowsOf('expensive-queries-by-memory', { search: 'carl' })
    expect(memory).toMatchObject({ fingerprint: '72', calls: 1, peak_memory: 5_000, total_memory: 5_000 })
  })

  it('show a query with its child queries, and the child queries alone', async () => {
    const detail = await rowsOf('query-detail', { parameters: { query_id: 'three' } })
    expect(detail.map((row) => [row.query_id, row.duration]).toSorted()).toEqual([
      ['three', 1_600],
      ['three-a', 700],
    ])
    const children = await rowsOf('query-children', { parameters: { query_id: 'three' } })
    expect(children.map((row) => [row.query_id, row.initial_query_id, row.read_rows])).toEqual([
      ['three-a', 'three', 12],
    ])
  })

  it('filter by duration and user', async () => {
    const people = new Set<unknown>(['ann', 'bob', 'carl'])
    // Omits statements of the test itself, which may be as slow, by their user.
    const ids = async (parameters: Record<string, string | number>) =>
      (await rowsOf('slow-queries', { parameters, search: 'shop.' }))
        .filter((row) => people.has(row.user))
        .map((row) => row.query_id)
    expect(await ids({ min_duration_s: 0.3 })).toEqual(['three', 'two'])
    expect(await ids({ min_duration_s: 0.05, user: 'ann' })).toEqual(['one'])
  })

  it('show slow queries that failed or were cancelled', async () => {
    const rows = await rowsOf('slow-queries', { search: 'depot.orders' })
    expect(rows.map((row) => [row.query_id, row.status, row.error])).toEqual([
      ['timed-out', 'failed', 'TIMEOUT_EXCEEDED'],
      ['killed', 'cancelled', 'QUERY_WAS_CANCELLED'],
    ])
  })

  it('name the failure of a query', async () => {
    const failures = await rowsOf('failed-queries', { parameters: { type: 'ExceptionBeforeStart' }, search: 'shop.' })
    expect(failures.map((row) => [row.query_id, row.error, row.type])).toEqual([
      ['four', 'UNKNOWN_TABLE', 'before the start'],
    ])
    expect(
      await rowsOf('failed-queries', { parameters: { type: 'ExceptionWhileProcessing' }, search: 'shop.' }),
    ).toEqual([])
  })

  it('count the use of tables and columns by users', async () => {
    const tables = await rowsOf('top-usage-tables', { parameters: { database: 'shop' } })
    expect(tables.map((row) => [row.table, row.queries, row.cache_hits, row.cache_use, row.cache_hit_rate])).toEqual([
      ['orders', 3, 1, 2, 50],
      ['customers', 1, 0, 0, null],
    ])
    const columns = await rowsOf('top-usage-columns', { parameters: { table: 'shop.orders' } })
    expect(columns.map((row) => [row.database, row.table, row.column, row.queries])).toEqual([
      ['shop', 'orders', 'c', 1],
    ])
  })
})

describe('pages of known tables', () => {
  it('count parts and rows', async () => {
    const active = await rowsOf('part-info', { parameters: { database: 'depot', table: 'crates' } })
    expect(active.map((row) => [row.partition, row.rows]).toSorted()).toEqual([
      ['202601', 10],
      ['202601', 10],
      ['202602', 10],
    ])
    const [overview] = await rowsOf('tables-overview', { search: 'crates' })
    expect(overview).toMatchObject({ database: 'depot', table: 'crates', rows: 30, parts: 3, partitions: 2 })
  })

  it('list detached parts', async () => {
    const detached = await rowsOf('detached_parts', { parameters: { table: 'depot.crates' } })
    expect(detached.map((row) => [row.table, row.partition, row.reason])).toEqual([['crates', '202603', '']])
    const listed = await rowsOf('tables-list', { parameters: { database: 'depot' } })
    expect(listed.map((row) => [row.table, row.rows, row.parts, row.detached_parts]).toSorted()).toEqual([
      ['crates', 30, 3, 1],
      ['visits', 1, 1, 0],
    ])
  })

  it('return growth within the total size, and reclaimable space', async () => {
    await execute('SYSTEM FLUSH LOGS part_log')
    const [crates] = await rowsOf('table-growth', { search: 'crates' })
    expect(crates).toMatchObject({ database: 'depot', rows: 30, has_ttl: 1, grows: Number(crates?.bytes) })
    const freeable = await rowsOf('freeable-space', { search: 'depot' })
    expect(freeable.map((row) => [row.what, row.table, row.parts])).toEqual([['Detached parts', 'crates', 1]])
  })

  it('list tables without a TTL', async () => {
    const health = await rowsOf('ttl-partition-health', { search: 'depot' })
    expect(health.map((row) => [row.table, row.recommendation, row.ttl, row.most_parts])).toEqual([
      ['visits', 'partitioned by time without TTL: data stays for ever', '', 1],
      ['crates', 'none', 'day + toIntervalYear(90)', 2],
    ])
  })

  it('describe the columns', async () => {
    const columns = await rowsOf('columns', { parameters: { database: 'depot', table: 'crates' } })
    expect(columns.map((row) => [row.column, row.type, row.rows, row.keys]).toSorted()).toEqual([
      ['day', 'Date', 30, ['partition key']],
      ['id', 'UInt32', 30, ['primary key']],
    ])
  })
})
