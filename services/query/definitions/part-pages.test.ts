import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { openTestService, type TestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'

/** The sizes of the example data, from which all expected numbers are derived. */
const inserts = 5
const rowsPerInsert = 200
const rows = inserts * rowsPerInsert
const thrown = 4
const refusedLogins = 3
const colours = ['red', 'green', 'blue']
const viewShare = 10

const hostKey = 'box'
let sandbox: Sandbox
let parts: TestService

const as = (user: string, password: string) => ({
  headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password },
})

const run = async (sql: string, by = as('default', '')): Promise<void> => {
  const { status, text } = await curl(sandbox.url, sql, by)
  expect([sql, status, status === 200 ? '' : text]).toEqual([sql, 200, ''])
}

/** Creates a table whose parts merge only on request, and a materialized view on it. */
const fillAndMerge = async (): Promise<void> => {
  await run(`CREATE TABLE acted.orders (id UInt64, colour String, INDEX by_colour colour TYPE set(10) GRANULARITY 2,
    PROJECTION per_colour (SELECT colour, count() GROUP BY colour)) ENGINE = MergeTree ORDER BY id
    SETTINGS max_bytes_to_merge_at_max_space_in_pool = 1`)
  await run('CREATE TABLE acted.tenth (id UInt64) ENGINE = MergeTree ORDER BY id')
  await run(
    `CREATE MATERIALIZED VIEW acted.feed TO acted.tenth AS SELECT id FROM acted.orders WHERE id % ${viewShare} = 0`,
  )
  for (let insert = 0; insert < inserts; insert++) {
    await run(`INSERT INTO acted.orders SELECT number, 'red' FROM numbers(${rowsPerInsert})`)
  }
  await run('OPTIMIZE TABLE acted.orders FINAL')
  await run('ALTER TABLE acted.orders DELETE WHERE id = 1 SETTINGS mutations_sync = 2')
}

const lookUp = async (): Promise<void> => {
  await run('CREATE TABLE acted.colours (id UInt64, name String) ENGINE = MergeTree ORDER BY id')
  await run(`INSERT INTO acted.colours VALUES ${colours.map((name, id) => `(${id}, '${name}')`).join(', ')}`)
  await run(`CREATE DICTIONARY acted.names (id UInt64, name String) PRIMARY KEY id
    SOURCE(CLICKHOUSE(DB 'acted' TABLE 'colours')) LAYOUT(FLAT()) LIFETIME(0)`)
  await run('SYSTEM RELOAD DICTIONARY acted.names')
}

const fail = async (): Promise<void> => {
  for (let time = 0; time < thrown; time++) {
    expect((await curl(sandbox.url, 'SELECT throwIf(1)')).text).toContain('Code: 395.')
  }
  for (let time = 0; time < refusedLogins; time++) {
    expect((await curl(sandbox.url, 'SELECT 1', as('reports', 'wrong'))).text).toContain('Code: 516.')
  }
}

beforeAll(async () => {
  sandbox = await startSandbox()
  await run('CREATE DATABASE acted')
  await fillAndMerge()
  await lookUp()
  await fail()
  await run('CREATE TABLE acted.gone (id UInt64) ENGINE = MergeTree ORDER BY id')
  await run('DROP TABLE acted.gone')
  await run('CREATE WORKLOAD everything')
  await run('CREATE WORKLOAD reports IN everything SETTINGS priority = 3, weight = 9')
  await run('SYSTEM FLUSH LOGS')
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: hostKey, SVC_QUERY_CACHE: 'off' })
}, 180_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

/** Returns the rows of a page that belong to this test. */
const rowsOf = async (name: string, search: string) => (await readTable(parts, { hostKey, name, search })).rows

describe('pages of parts', () => {
  it('list inserts, their merge and the parts that a mutation wrote', async () => {
    const log = await rowsOf('part-log', 'orders')
    const of = (type: string) => log.filter((row) => row.type === type)
    expect(of('NewPart').map((row) => row.rows)).toEqual(Array.from({ length: inserts }, () => rowsPerInsert))
    expect(of('MergeParts').map((row) => row.rows)).toEqual([rows])
    expect(of('MutatePart').map((row) => row.rows)).toEqual([rows - inserts])
  })

  it('list merged parts with their results', async () => {
    const merges = (await rowsOf('recent-merges', 'orders')).filter((row) => row.type === 'MergeParts')
    expect(merges).toMatchObject([{ parts: inserts, rows, read_rows: rows }])
  })

  it('show a mutation that is done', async () => {
    expect(await rowsOf('mutations', 'orders')).toMatchObject([
      { table: 'orders', is_done: 1, is_stuck: 0, parts_to_do: 0, failed: null },
    ])
  })

  it('count stored rows without deleted ones', async () => {
    const expected = { database: 'acted', table: 'orders', parts: 1, rows: rows - inserts }
    expect(await rowsOf('storage-compression', 'orders')).toMatchObject([expected])
    const { rows: usage } = await readTable(parts, {
      hostKey,
      name: 'database-disk-usage-by-database',
      parameters: { database: 'acted' },
      search: 'orders',
    })
    expect(usage).toMatchObject([expected])
  })

  it('count the sizes of an index and a projection', async () => {
    expect(await rowsOf('index-analytics', 'by_colour')).toMatchObject([
      { table: 'orders', name: 'by_colour', type: 'set', expression: 'colour', granularity: 2 },
    ])
    // All rows have the same color, so the projection, which counts rows by color, has one row.
    expect(await rowsOf('projection-analytics', 'per_colour')).toMatchObject([
      { table: 'orders', projection: 'per_colour', parts: 1, rows: 1 },
    ])
  })
})

describe('pages of views and dictionaries', () => {
  it('count what a view wrote for each insert', async () => {
    const log = await rowsOf('query-views-log', 'acted.feed')
    expect(log.map((row) => [row.view_name, row.target, row.written_rows])).toEqual(
      Array.from({ length: inserts }, () => ['acted.feed', 'acted.tenth', rowsPerInsert / viewShare]),
    )
  })

  it('count the elements of a dictionary', async () => {
    expect(await rowsOf('dictionaries', 'names')).toMatchObject([
      { database: 'acted', name: 'names', type: 'Flat', elements: colours.length },
    ])
  })

  it('list a table that was dropped', async () => {
    expect(await rowsOf('dropped-tables', 'gone')).toMatchObject([
      { database: 'acted', table: 'gone', engine: 'MergeTree' },
    ])
  })

  it('list workloads as declared', async () => {
    expect(await rowsOf('workloads', 'reports')).toMatchObject([
      { name: 'reports', parent: 'everything', priority: 3, weight: 9 },
    ])
  })
})

describe('pages of failures', () => {
  it('count errors by their name, in the server and in its log', async () => {
    const expected = { name: 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO', code: 395, count: thrown }
    expect(await rowsOf('errors', 'THROW_IF')).toMatchObject([expected])
    expect(await rowsOf('common-errors', 'THROW_IF')).toMatchObject([expected])
    const { rows: one } = await readTable(parts, { hostKey, name: 'errors', parameters: { error: expected.name } })
    expect(one).toMatchObject([expected])
    const { rows: logged } = await readTable(parts, {
      hostKey,
      name: 'error-log',
      parameters: { error: expected.name },
    })
    expect(logged.reduce((total, row) => total + Number(row.count), 0)).toBe(thrown)
  })

  it('show every rejected login', async () => {
    const attempts = await rowsOf('login-attempts', 'reports')
    expect(attempts.map((row) => [row.user, row.has_failed])).toEqual(
      Array.from({ length: refusedLogins }, () => ['reports', 1]),
    )
  })
})
