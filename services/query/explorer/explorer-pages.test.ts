import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { openTestService, type TestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'

const hostKey = 'box'
const reads = 4

let sandbox: Sandbox
let parts: TestService

const execute = async (sql: string): Promise<string> => {
  const { status, text } = await curl(sandbox.url, sql)
  if (status !== 200) throw new Error(`${sql}: ${text}`)
  return text.trimEnd()
}

const definitions = [
  'CREATE DATABASE mill',
  `CREATE TABLE mill.grain (id UInt32, kind String, INDEX kinds kind TYPE set(9) GRANULARITY 3,
    PROJECTION by_kind (SELECT kind, count() GROUP BY kind)) ENGINE = MergeTree PARTITION BY id % 2 ORDER BY id`,
  'CREATE TABLE mill.flour (kind String, rows UInt64) ENGINE = SummingMergeTree ORDER BY kind',
  'CREATE MATERIALIZED VIEW mill.grinding TO mill.flour AS SELECT kind, count() AS rows FROM mill.grain GROUP BY kind',
  'CREATE VIEW mill.bread AS SELECT * FROM mill.flour',
  "CREATE DICTIONARY mill.kinds (id UInt32, kind String) PRIMARY KEY id SOURCE(CLICKHOUSE(DB 'mill' TABLE 'grain')) LAYOUT(FLAT()) LIFETIME(0)",
  "CREATE TABLE mill.sacks (id UInt32, kind String DEFAULT dictGet('mill.kinds', 'kind', id)) ENGINE = MergeTree ORDER BY id",
  'CREATE TABLE mill.hopper AS mill.grain ENGINE = Buffer(mill, grain, 1, 10, 100, 10, 100, 1000, 10000)',
  "INSERT INTO mill.grain SELECT number, 'rye' FROM numbers(30)",
]

beforeAll(async () => {
  sandbox = await startSandbox()
  for (const sql of definitions) await execute(sql)
  for (let read = 0; read < reads; read++) await execute('SELECT count() FROM mill.grain WHERE id > 1')
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: hostKey, SVC_QUERY_CACHE: 'off' })
  const untilLogged = async () => {
    const logged = await execute(
      "SELECT count() FROM system.query_log WHERE type = 'QueryFinish' AND query = 'SELECT count() FROM mill.grain WHERE id > 1'",
    )
    if (Number(logged) !== reads) throw new Error(`logged so far: ${logged}`)
  }
  await vi.waitFor(untilLogged, { timeout: 60_000, interval: 200 })
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const rowsOf = async (name: string, parameters: Record<string, string> = { database: 'mill', table: 'grain' }) =>
  (await readTable(parts, { hostKey, name, parameters })).rows
const database = { database: 'mill' }

describe('pages of a database', () => {
  it('count its objects', async () => {
    const things = 7
    expect((await rowsOf('explorer-databases', {})).find(({ name }) => name === 'mill')).toMatchObject({
      item_count: things,
    })
    expect((await rowsOf('explorer-database-counts', {})).find((row) => row.database === 'mill')).toMatchObject({
      tables: 4,
      views: 1,
      materialized_views: 1,
      dictionaries: 1,
    })
    expect(await rowsOf('explorer-tables', database)).toHaveLength(things)
  })

  it('describe a table with its keys, indexes, projections and parts', async () => {
    expect(await rowsOf('explorer-indexes')).toMatchObject([{ partition_key: 'id % 2', sorting_key: 'id' }])
    expect(await rowsOf('explorer-skip-indexes')).toMatchObject([{ name: 'kinds', expr: 'kind', granularity: 3 }])
    expect(await rowsOf('explorer-projections')).toMatchObject([{ name: 'by_kind', parts: 2 }])
    expect(await rowsOf('explorer-table-overview')).toMatchObject([{ total_rows: 30, active_parts: 2, partitions: 2 }])
    expect((await rowsOf('explorer-columns')).map((row) => [row.name, row.is_in_sorting_key])).toEqual([
      ['id', 1],
      ['kind', 0],
    ])
    expect((await rowsOf('explorer-ddl'))[0]?.create_table_query).toMatch(/^CREATE TABLE mill\.grain /)
  })

  it('count the queries of a table', async () => {
    const [usage] = await rowsOf('explorer-table-usage')
    const logged = await execute(
      "SELECT count() FROM system.query_log WHERE type = 'QueryFinish' AND query_kind != 'Show' AND has(tables, 'mill.grain')",
    )
    expect(Number(logged)).toBeGreaterThan(reads)
    expect(usage).toMatchObject({ queries_24h: Number(logged), queries_7d: Number(logged), users: 1 })
  })

  it('name the sources of dictionaries', async () => {
    expect(await rowsOf('explorer-dictionary-source', database)).toMatchObject([
      { dict_name: 'kinds', source_database: 'mill', source_table: 'grain' },
    ])
    expect(await rowsOf('explorer-dictionary-overview', database)).toMatchObject([
      { name: 'kinds', keys: ['id UInt64'], attributes: ['kind String'] },
    ])
  })
})

describe('pages of dependencies', () => {
  it('point from sources to dependents', async () => {
    const edges = async (name: string, parameters?: Record<string, string>) =>
      (await rowsOf(name, parameters))
        .map((row) => `${String(row.source_table)} > ${String(row.target_table)}`)
        .toSorted()
    const ofGrain = ['grain > grinding', 'grain > kinds', 'hopper > grain']
    expect(await edges('explorer-table-dependencies')).toEqual(ofGrain)
    const all = [...ofGrain, 'flour > bread', 'grinding > flour', 'kinds > sacks']
    expect(await edges('explorer-all-dependencies', database)).toEqual(all.toSorted())
    expect(await edges('explorer-database-dependencies', database)).toEqual(['grain > grinding'])
  })

  it('list both directions for a table', async () => {
    const upstream = await rowsOf('explorer-dependencies-upstream', { database: 'mill', table: 'sacks' })
    expect(upstream).toMatchObject([{ source_table: 'kinds', type: 'reference' }])
    const downstream = await rowsOf('explorer-dependencies-downstream')
    expect(downstream.map((row) => [row.dependent_table, row.engine])).toEqual([
      ['grinding', 'MaterializedView'],
      ['kinds', 'Dictionary'],
    ])
  })
})
