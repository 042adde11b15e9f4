import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { z } from 'zod'
import { explorerMethods } from '#proto/explorer.ts'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
const database = 'odd-db.x'
const table = 'ta`b"le\''
const quoted = '`odd-db.x`.`ta\\`b"le\'`'
const inserts = 3
const insertedRows = 20_000

let sandbox: Sandbox
let parts: TestService

/** Queries the engine directly. */
const direct = (sql: string, parameters?: Record<string, string>) => fetchText(sandbox.url, sql, parameters)
const number = async (sql: string): Promise<number> => Number(await direct(sql))

const definitions = [
  `CREATE DATABASE \`${database}\` COMMENT 'Odd names'`,
  `CREATE TABLE ${quoted}
  (
    id UInt64 CODEC(Delta, ZSTD),
    day Date DEFAULT toDate('2026-01-01') + id % 3 COMMENT 'when',
    text String,
    INDEX texts text TYPE bloom_filter(0.01) GRANULARITY 2,
    PROJECTION by_day (SELECT day, count() GROUP BY day)
  )
  ENGINE = MergeTree PARTITION BY toYYYYMM(day) PRIMARY KEY id ORDER BY (id, day) SAMPLE BY id
  SETTINGS min_bytes_for_wide_part = 0 COMMENT 'A table'`,
  'CREATE DATABASE flow',
  'CREATE TABLE flow.source (id UInt32, kind String) ENGINE = MergeTree ORDER BY id',
  'CREATE TABLE flow.totals (kind String, rows UInt64) ENGINE = SummingMergeTree ORDER BY kind',
  'CREATE MATERIALIZED VIEW flow.totalled TO flow.totals AS SELECT kind, count() AS rows FROM flow.source GROUP BY kind',
  'CREATE MATERIALIZED VIEW flow.stored ENGINE = SummingMergeTree ORDER BY kind AS SELECT kind, count() AS rows FROM flow.source GROUP BY kind',
  'CREATE VIEW flow.seen AS WITH few AS (SELECT id FROM flow.source) SELECT * FROM flow.totals JOIN few ON 1 = 1',
  "CREATE DICTIONARY flow.kinds (id UInt32, kind String) PRIMARY KEY id SOURCE(CLICKHOUSE(QUERY 'SELECT id, kind FROM flow.source')) LAYOUT(HASHED()) LIFETIME(0)",
  "CREATE TABLE flow.named (id UInt32, kind String DEFAULT dictGet('flow.kinds', 'kind', id)) ENGINE = MergeTree ORDER BY id",
  "CREATE TABLE flow.merged AS flow.source ENGINE = Merge(REGEXP('^flow$'), '^(source|named)$')",
  'CREATE TABLE flow.buffered AS flow.source ENGINE = Buffer(flow, source, 1, 10, 100, 10, 100, 1000, 10000)',
]
/** Statements that use the table and that the host records in its query log. */
const used = [
  { id: 'read-1', user: 'default', sql: `SELECT count() FROM ${quoted} WHERE text = 'secret'` },
  { id: 'read-2', user: 'analyst', sql: `SELECT max(id) FROM ${quoted}` },
  { id: 'failed', user: 'default', sql: `SELECT throwIf(id >= 0) FROM ${quoted}` },
]

beforeAll(async () => {
  sandbox = await startSandbox()
  for (const sql of definitions) await direct(sql)
  await direct(`SYSTEM STOP MERGES ${quoted}`)
  for (let insert = 0; insert < inserts; insert++) {
    await direct(
      `INSERT INTO ${quoted} (id, text) SELECT number, randomPrintableASCII(20) FROM numbers(${insertedRows})`,
    )
  }
  for (const { id, user, sql } of used) {
    await direct(sql, { query_id: id, user, ...(user === 'analyst' && { password: 'analyst' }) }).catch(() => undefined)
  }
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url, sandbox.url].join(','),
    COLUMNDB_NAME: 'box,careful,reports',
    COLUMNDB_USER: 'default,analyst,reports',
    COLUMNDB_PASSWORD: ',analyst,reports',
    SVC_QUERY_CACHE: 'off',
  })
  await direct('SYSTEM FLUSH LOGS query_log')
  const logged =
    "SELECT count() FROM system.query_log WHERE type != 'QueryStart' AND query_id IN ('read-1', 'read-2', 'failed')"
  const untilLogged = async () => {
    if ((await number(logged)) !== used.length) throw new Error('the queries are not in the log yet')
  }
  await vi.waitFor(untilLogged, { timeout: 60_000, interval: 200 })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

type Lists =
  | 'exploreDatabases'
  | 'exploreTables'
  | 'exploreTable'
  | 'exploreColumns'
  | 'exploreDdl'
  | 'exploreSkipIndexes'
  | 'exploreProjections'
  | 'exploreParts'
  | 'exploreDependencies'
  | 'exploreUsage'
  | 'exploreQueries'

/** Calls a method and validates its input and output like the bus. */
const call = async <N extends Lists>(name: N, request: Record<string, unknown> = {}, hostKey = 'box') => {
  const { input, output } = explorerMethods[name]
  const handle: (input: never, call: ReturnType<typeof createCall>) => Promise<unknown> = parts.handlers[name]
  // TypeScript cannot relate the schemas to the handler when the name varies.
  const response = await handle(input.parse({ hostKey, ...request }) as never, createCall())
  return output.parse(response) as z.output<(typeof explorerMethods)[N]['output']>
}
const named = { database, table }

describe.each(['box', 'careful'])('on the host %s', (hostKey) => {
  it('lists databases with their contents', async () => {
    const { rows, truncated, unavailable } = await call('exploreDatabases', {}, hostKey)
    expect([truncated, unavailable]).toEqual([false, null])
    expect(rows.find(({ name }) => name === database)).toMatchObject({
      comment: 'Odd names',
      isSystem: false,
      tables: 1,
      rows: inserts * insertedRows,
      bytes: await number(`SELECT total_bytes FROM system.tables WHERE database = '${database}'`),
    })
    const flow = { tables: 6, views: 3, dictionaries: 1 }
    expect(rows.find(({ name }) => name === 'flow')).toMatchObject(flow)
    expect(rows.find(({ name }) => name === 'system')?.isSystem).toBe(true)
  })

  it('lists tables by kind and finds them by substring', async () => {
    const { rows } = await call('exploreTables', { database: 'flow' }, hostKey)
    const kinds = Object.fromEntries(rows.map(({ name, kind }) => [name, kind]))
    expect(kinds).toMatchObject({
      source: 'table',
      merged: 'table',
      seen: 'view',
      totalled: 'materialized-view',
      kinds: 'dictionary',
    })
    const found = await call('exploreTables', { database: 'flow', search: 'TOTAL' }, hostKey)
    expect(found.rows.map(({ name }) => name)).toEqual(['totalled', 'totals'])
  })

  it('returns a table with its keys and parts', async () => {
    const { detail } = await call('exploreTable', named, hostKey)
    const ofParts = async (expression: string) =>
      number(`SELECT ${expression} FROM system.parts WHERE active AND database = '${database}'`)
    expect(detail).toMatchObject({
      name: table,
      kind: 'table',
      engine: 'MergeTree',
      comment: 'A table',
      partitionKey: 'toYYYYMM(day)',
      sortingKey: 'id, day',
      primaryKey: 'id',
      samplingKey: 'id',
      rows: inserts * insertedRows,
      parts: inserts,
      partitions: 1,
      disks: ['default'],
      compressedBytes: await ofParts('sum(data_compressed_bytes)'),
      uncompressedBytes: await ofParts('sum(data_uncompressed_bytes)'),
      bytesOnDisk: await ofParts('sum(bytes_on_disk)'),
      marks: await ofParts('sum(marks)'),
      modifiedMs: 1_000 * (await ofParts('toUnixTimestamp(max(modification_time))')),
    })
    expect((await call('exploreTable', { database: 'flow', table: 'seen' }, hostKey)).detail).toMatchObject({
      kind: 'view',
      parts: 0,
      modifiedMs: null,
    })
  })

  it('lists columns with sizes, codecs and keys', async () => {
    const { rows } = await call('exploreColumns', named, hostKey)
    const size = async (column: string) =>
      number(`SELECT sum(column_data_compressed_bytes) FROM system.parts_columns
        WHERE active AND database = '${database}' AND column = '${column}'`)
    const [id, day, text] = rows
    expect(rows).toHaveLength(3)
    const keys = { isInPartitionKey: false, isInSortingKey: true, isInPrimaryKey: true, isInSamplingKey: true }
    expect(id).toMatchObject({ name: 'id', position: 1, codec: 'CODEC(Delta(8), ZSTD(1))', ...keys })
    expect(id?.compressedBytes).toBe(await size('id'))
    expect(id?.ratio).toBeCloseTo(Number(id?.uncompressedBytes) / Number(id?.compressedBytes))
    expect(day).toMatchObject({
      defaultKind: 'DEFAULT',
      comment: 'when',
      isInPartitionKey: true,
      isInPrimaryKey: false,
    })
    expect(text).toMatchObject({ type: 'String', compressedBytes: await size('text'), isInSortingKey: false })
  })

  it('returns the DDL of a table or database', async () => {
    const raw = { default_format: 'TSVRaw' }
    expect((await call('exploreDdl', named, hostKey)).detail?.ddl).toBe(
      await direct(`SHOW CREATE TABLE ${quoted}`, raw),
    )
    expect((await call('exploreDdl', { database }, hostKey)).detail?.ddl).toBe(
      await direct(`SHOW CREATE DATABASE \`${database}\``, raw),
    )
  })

  it('lists skip indexes and projections with their sizes', async () => {
    const { rows } = await call('exploreSkipIndexes', named, hostKey)
    const size = await number(
      `SELECT data_compressed_bytes FROM system.data_skipping_indices WHERE database = '${database}'`,
    )
    expect(size).toBeGreaterThan(0)
    expect(rows).toMatchObject([
      { name: 'texts', type: 'bloom_filter', expression: 'text', granularity: 2, compressedBytes: size },
    ])
    const projections = await call('exploreProjections', named, hostKey)
    const stored = await number(
      `SELECT sum(rows) FROM system.projection_parts WHERE active AND database = '${database}'`,
    )
    expect(projections.rows).toMatchObject([{ name: 'by_day', type: 'Aggregate', parts: inserts, rows: stored }])
    expect(projections.rows[0]?.definition).toContain('GROUP BY day')
  })

  it('lists the largest parts first and reports truncation', async () => {
    const { rows, truncated } = await call('exploreParts', { ...named, limit: 2 }, hostKey)
    expect([rows.length, truncated]).toEqual([2, true])
    const names = await direct(
      `SELECT name FROM system.parts WHERE active AND database = '${database}' ORDER BY bytes_on_disk DESC, name LIMIT 2`,
    )
    expect(rows.map(({ name }) => name).join('\n')).toBe(names)
    expect(rows[0]).toMatchObject({ rows: insertedRows, active: true, partition: '202601', disk: 'default' })
  })

  it('returns the users of a table with the time of last use', async () => {
    const { detail } = await call('exploreUsage', named, hostKey)
    expect(detail).toMatchObject({ reads: used.length, writes: inserts, errors: 1, queries: used.length + inserts + 1 })
    expect(detail?.queriesLastDay).toBe(detail?.queries)
    expect(detail?.writtenRows).toBe(inserts * insertedRows)
    expect(detail?.users.map(({ user, queries }) => [user, queries])).toEqual([
      ['default', inserts + 3],
      ['analyst', 1],
    ])
    const last = await number("SELECT toUnixTimestamp(max(event_time)) FROM system.query_log WHERE query_id = 'failed'")
    expect(detail?.lastReadMs).toBe(last * 1_000)
  })

  it('lists the latest queries of a table without values', async () => {
    const { rows } = await call('exploreQueries', { ...named, limit: 3 }, hostKey)
    expect(rows.map(({ queryId, failed }) => [queryId, failed])).toEqual([
      ['failed', true],
      ['read-2', false],
      ['read-1', false],
    ])
    expect(JSON.stringify(rows)).not.toContain('secret')
  })
})

describe('dependencies', () => {
  const edges = async (request: { database: string; table?: string }) => {
    const { rows } = await call('exploreDependencies', request)
    return rows
      .map(({ kind, from, to, direction }) => `${direction ?? ''} ${kind}: ${from.table} > ${to.table}`.trim())
      .map((edge) => edge.replace(/\.[-0-9a-f]{36}$/, ''))
      .toSorted()
  }

  it('have both directions', async () => {
    expect(await edges({ database: 'flow', table: 'totals' })).toEqual([
      'downstream view: totals > seen',
      'upstream buffer: buffered > source',
      'upstream materialized-view-target: totalled > totals',
      'upstream materialized-view: source > totalled',
    ])
    expect(await edges({ database: 'flow', table: 'kinds' })).toEqual([
      'downstream merge: named > merged',
      'downstream reference: kinds > named',
      'upstream buffer: buffered > source',
      'upstream dictionary: source > kinds',
    ])
  })

  it('of a table include indirect ones', async () => {
    expect(await edges({ database: 'flow', table: 'source' })).toEqual([
      'downstream dictionary: source > kinds',
      'downstream materialized-view-target: stored > .inner_id',
      'downstream materialized-view-target: totalled > totals',
      'downstream materialized-view: source > stored',
      'downstream materialized-view: source > totalled',
      'downstream merge: named > merged',
      'downstream merge: source > merged',
      'downstream reference: kinds > named',
      'downstream view: source > seen',
      'downstream view: totals > seen',
      'upstream buffer: buffered > source',
    ])
  })

  it('of a database include those of inner tables', async () => {
    const all = await edges({ database: 'flow' })
    expect(all).toContain('materialized-view-target: stored > .inner_id')
    expect(all).toHaveLength(11)
  })

  it('of an isolated table are empty', async () => {
    expect(await edges(named)).toEqual([])
  })
})

describe('a missing object', () => {
  it.each([
    [
      'exploreColumns',
      { database: 'flwo', table: 'source' },
      'unknown database "flwo"; did you mean "flow"?',
      'database',
    ],
    ['exploreTables', { database: 'flwo' }, 'unknown database "flwo"; did you mean "flow"?', 'database'],
    [
      'exploreTable',
      { database: 'flow', table: 'sorce' },
      'unknown table "flow.sorce"; did you mean "source"?',
      'table',
    ],
    [
      'exploreParts',
      { database: 'flow', table: 'Source' },
      'unknown table "flow.Source"; did you mean "source"?',
      'table',
    ],
    ['exploreDdl', { database: 'flow', table: 'sorce' }, 'unknown table "flow.sorce"; did you mean "source"?', 'table'],
    ['exploreDdl', { database: 'nothing' }, 'unknown database "nothing"', 'database'],
    [
      'exploreUsage',
      { database: 'flow', table: 'sorce' },
      'unknown table "flow.sorce"; did you mean "source"?',
      'table',
    ],
    [
      'exploreDependencies',
      { database, table: 'source' },
      `unknown table "${database}.source"; found elsewhere: flow.source`,
      'table',
    ],
  ] as const)('%s %j is not found', async (name, request, message, parameter) => {
    await expect(call(name, request)).rejects.toMatchObject({ code: 'not-found', message, details: { parameter } })
  })

  it('differs from a table without matching rows', async () => {
    const plain = { database: 'flow', table: 'source' }
    for (const name of ['exploreSkipIndexes', 'exploreProjections', 'exploreParts'] as const) {
      expect(await call(name, plain)).toEqual({ rows: [], truncated: false, unavailable: null, incomplete: null })
    }
  })
})

describe('a preview', () => {
  const preview = async (request: Record<string, unknown>, hostKey = 'box') => {
    const input = explorerMethods.previewTable.input.parse({ hostKey, ...request })
    const { head, frames } = await parts.handlers.previewTable(input, createCall())
    let text = ''
    let next = await frames.next()
    for (; !next.done; next = await frames.next()) text += Buffer.from(next.value).toString('utf8')
    return { head, rows: text.split('\n').filter((line) => line !== ''), tail: next.value }
  }

  it.each(['box', 'careful'])('returns rows, columns and truncation (host %s)', async (hostKey) => {
    const { head, rows, tail } = await preview({ ...named, limit: 5 }, hostKey)
    expect(head.columns).toEqual([
      { name: 'id', type: 'UInt64' },
      { name: 'day', type: 'Date' },
      { name: 'text', type: 'String' },
    ])
    expect(rows).toHaveLength(5)
    expect(tail.truncated).toEqual({ reason: 'rows', limit: 5, returned: 5 })
  })

  it('returns not-found for a missing table', async () => {
    await expect(preview({ database: 'flow', table: 'sorce' })).rejects.toMatchObject({
      code: 'not-found',
      message: 'unknown table "flow.sorce"; did you mean "source"?',
    })
  })
})

describe('a user without access to a table', () => {
  it('gets the missing grant', async () => {
    const { rows, unavailable } = await call('exploreColumns', named, 'reports')
    expect(rows).toEqual([])
    expect(unavailable).toMatchObject({ reason: 'permission', grant: expect.stringContaining('GRANT ') })
    expect((await call('exploreDdl', named, 'reports')).unavailable).toMatchObject({ reason: 'permission' })
  })

  it('sees public metadata of readable tables', async () => {
    await direct('CREATE DATABASE shop')
    await direct('CREATE TABLE shop.orders (id UInt64) ENGINE = MergeTree ORDER BY id')
    const { rows, unavailable } = await call('exploreDatabases', {}, 'reports')
    expect(unavailable).toBeNull()
    expect(rows.map(({ name }) => name)).toContain('shop')
    const columns = await call('exploreColumns', { database: 'shop', table: 'orders' }, 'reports')
    expect(columns).toMatchObject({ rows: [{ name: 'id' }], unavailable: null })
  })

  it('gets all missing grants of a statement', async () => {
    const request = { hostKey: 'reports', name: 'summary-used-by-merges', parameters: {} }
    const { unavailable } = await parts.handlers.chart(request, createCall())
    const grant = unavailable?.grant?.replace('<user>', 'reports') ?? ''
    expect(grant).toContain(', ')
    expect(await direct(`SELECT formatQuerySingleLine({grant:String})`, { param_grant: grant })).toBe(grant)
  })
})
