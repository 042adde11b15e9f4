import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { query } from '#proto/query.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { createCall, openTestService, type TestService } from './testing/test-service.ts'
import { readTable } from './testing/read-table.ts'

const hostKey = 'box'
const databases = 'numbers_here'
const insertedRows = 1_234
const inserts = 3
const failures = 4

let sandbox: Sandbox
let parts: TestService

/** Queries the engine directly, without the service. */
const direct = async (sql: string): Promise<string> => {
  const response = await fetch(sandbox.url, { method: 'POST', body: sql })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return text.trim()
}

beforeAll(async () => {
  sandbox = await startSandbox()
  await direct(`CREATE DATABASE ${databases}`)
  await direct(`CREATE TABLE ${databases}.events (id UInt64, text String) ENGINE = MergeTree ORDER BY id`)
  await direct(`SYSTEM STOP MERGES ${databases}.events`)
  for (let part = 0; part < inserts; part++) {
    await direct(
      `INSERT INTO ${databases}.events SELECT number, randomPrintableASCII(50) FROM numbers(${insertedRows})`,
    )
  }
  for (let failure = 0; failure < failures; failure++) {
    await direct(`SELECT no_such_column FROM ${databases}.events`).catch(() => undefined)
  }
  parts = await openTestService({
    COLUMNDB_HOST: sandbox.url,
    COLUMNDB_NAME: hostKey,
    SVC_TABLE_MAX_RESULT_ROWS: '50',
    SVC_QUERY_CACHE: 'off',
  })
  const logged = async () => [
    await direct('SELECT count() FROM system.query_log WHERE exception_code = 47'),
    await direct(`SELECT count() FROM system.part_log WHERE event_type = 'NewPart' AND database = '${databases}'`),
  ]
  await vi.waitFor(
    async () => {
      const found = await logged()
      if (found.join() !== [failures, inserts].join()) throw new Error(`logged so far: ${found.join()}`)
    },
    { timeout: 60_000, interval: 200 },
  )
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const chart = async (name: string, more: Record<string, unknown> = {}) =>
  query.methods.chart.output.parse(await parts.handlers.chart({ hostKey, name, parameters: {}, ...more }, createCall()))
const total = (rows: readonly Record<string, unknown>[], column: string): number =>
  rows.reduce((sum, row) => sum + Number(row[column] ?? 0), 0)

describe('charts', () => {
  it('count the parts and rows of a table', async () => {
    expect((await chart('parts-per-table')).rows).toContainEqual(
      expect.objectContaining({ table: `${databases}.events`, parts: inserts, rows: inserts * insertedRows }),
    )
    const bytes = Number(
      await direct(`SELECT sum(data_compressed_bytes) FROM system.parts WHERE active AND database = '${databases}'`),
    )
    expect((await chart('top-table-size')).rows[0]).toMatchObject({
      table: `${databases}.events`,
      compressed_bytes: bytes,
    })
  })

  it('count failed queries and inserts', async () => {
    expect(total((await chart('failed-query-count')).rows, 'queries')).toBe(failures)
    const { rows } = await chart('insert-performance')
    expect([total(rows, 'inserts'), total(rows, 'rows')]).toEqual([inserts, inserts * insertedRows])
    expect(total((await chart('new-parts-created')).rows, 'parts')).toBe(inserts)
  })

  it('count databases and tables without system ones', async () => {
    const tables = Number(
      await direct(
        "SELECT count() FROM system.tables WHERE database NOT IN ('system', 'INFORMATION_SCHEMA', 'information_schema')",
      ),
    )
    expect((await chart('table-count')).rows).toEqual([{ tables }])
    const overview = query.methods.overview.output.parse(await parts.handlers.overview({ hostKey }, createCall()))
    expect(overview.tableCount).toBe(tables)
    expect(overview.databaseCount).toBe((await chart('database-count')).rows[0]?.databases)
    expect(overview.diskUsage?.totalBytes).toBe(Number(await direct('SELECT sum(total_space) FROM system.disks')))
    expect(overview.todayQueries).toBeGreaterThan(inserts + failures)
    expect(overview.hostInfo).toMatchObject({
      version: await direct('SELECT version()'),
      hostname: await direct('SELECT hostName()'),
    })
    expect(Math.abs(overview.hostInfo.clockSkewMs)).toBeLessThan(1_000)
  })

  it('fill the gaps of a series, in buckets of the requested time zone', async () => {
    const { rows, window } = await chart('query-duration', {
      interval: 'toStartOfDay',
      lastHours: 72,
      timezone: 'Asia/Kathmandu',
    })
    expect(window?.interval).toBe('toStartOfDay')
    expect([4, 5]).toContain(rows.length + 1)
    const kathmanduOffsetMs = (5 * 60 + 45) * 60_000
    for (const row of rows) expect((Number(row.time) + kathmanduOffsetMs) % 86_400_000).toBe(0)
    expect(rows[0]).toMatchObject({ average_ms: null })
    expect(rows.at(-1)?.average_ms).toBeGreaterThan(0)
  })
})

describe('a chart batch', () => {
  it('returns a result or an error for every name', async () => {
    const names = ['query-count', 'no-such-chart', 'memory-usage', 'database-count', 'query-count']
    const response = await parts.handlers.charts({ hostKey, names, parameters: {} }, createCall())
    const results = query.methods.charts.output.parse(response)
    expect(Object.keys(results).toSorted()).toEqual(['database-count', 'memory-usage', 'no-such-chart', 'query-count'])
    expect(results['no-such-chart']).toMatchObject({ ok: false, error: { code: 'not-found' } })
    expect(results['database-count']).toMatchObject({ ok: true, data: { unavailable: null } })
  })
})

describe('a caller without a feature', () => {
  it('is denied its charts and table pages', async () => {
    const identity = { kind: 'guest', subject: 'g', features: ['OVERVIEW'] } as const
    const guest = createCall({ identity: { ...identity, features: [...identity.features] } })
    await expect(parts.handlers.chart({ hostKey, name: 'query-count', parameters: {} }, guest)).rejects.toMatchObject({
      code: 'forbidden',
    })
    await expect(
      parts.handlers.chart({ hostKey, name: 'database-count', parameters: {} }, guest),
    ).resolves.toBeDefined()
    const request = query.methods.table.input.parse({ hostKey, name: 'disks' })
    await expect(parts.handlers.table(request, guest)).rejects.toMatchObject({ code: 'forbidden' })
  })
})

describe('a table page', () => {
  const settings = { hostKey, name: 'settings' }

  it('streams rows up to the cap and reports whether there are more', async () => {
    const capped = await readTable(parts, settings)
    expect([capped.rows.length, capped.head.limit, capped.tail.truncated]).toEqual([50, 50, true])
    const beyond = await readTable(parts, { ...settings, limit: 1_000 })
    expect(beyond.head).toMatchObject({ limit: 50, maxRows: 50 })
    expect((await readTable(parts, { ...settings, limit: 2 })).head).toMatchObject({ limit: 2, maxRows: 50 })

    const number = Number(
      await direct("SELECT count() FROM system.settings WHERE positionCaseInsensitive(name, 'parquet') > 0"),
    )
    const filters = [{ column: 'name', operator: 'contains' as const, values: ['PARQUET'] }]
    const exact = await readTable(parts, { ...settings, filters, limit: number })
    expect([exact.rows.length, exact.tail.truncated]).toEqual([number, false])
    const short = await readTable(parts, { ...settings, filters, limit: number - 1 })
    expect([short.rows.length, short.tail.truncated]).toEqual([number - 1, true])
    expect(short.tail.statement).toMatchObject({ rows: number - 1, host: hostKey })
  })

  it('pages without overlap, sorted on the host', async () => {
    const page = async (offset: number) =>
      (await readTable(parts, { ...settings, sort: { column: 'type', direction: 'desc' }, limit: 20, offset })).rows
    const names = [...(await page(0)), ...(await page(20)), ...(await page(40))].map((row) => row.name)
    expect(new Set(names).size).toBe(60)
  })

  it('returns numbers, timestamps and flags as numbers', async () => {
    const filters = [{ column: 'exception_code', operator: 'eq' as const, values: ['47'] }]
    const { rows } = await readTable(parts, { hostKey, name: 'failed-queries', filters })
    expect(rows).toHaveLength(failures)
    expect(rows[0]).toMatchObject({ error: 'UNKNOWN_IDENTIFIER', exception_code: 47, duration: expect.any(Number) })
    expect(Math.abs(Number(rows[0]?.time) - Date.now())).toBeLessThan(120_000)
  })

  it('shows the settings of the user, not those of its own statement', async () => {
    const filters = [{ column: 'changed', operator: 'eq' as const, values: ['true'] }]
    const { rows } = await readTable(parts, { ...settings, filters })
    const changed = await direct('SELECT name FROM system.settings WHERE changed ORDER BY name')
    expect(rows.map((row) => row.name)).toEqual(changed.split('\n').filter((name) => name !== ''))
  })

  it('searches in every text column', async () => {
    const { rows } = await readTable(parts, { hostKey, name: 'tables-overview', search: 'EVENTS' })
    expect(rows).toMatchObject([{ database: databases, table: 'events', rows: inserts * insertedRows, parts: inserts }])
  })

  it('returns the same numbers to a read-only user', async () => {
    await using readOnlyParts = await openTestService({
      COLUMNDB_HOST: sandbox.url,
      COLUMNDB_NAME: hostKey,
      COLUMNDB_USER: 'analyst',
      COLUMNDB_PASSWORD: sandbox.users.find((each) => each.user === 'analyst')?.password ?? '',
    })
    const { rows } = await readTable(readOnlyParts, { hostKey, name: 'tables-overview' })
    expect(rows).toMatchObject([{ table: 'events', rows: inserts * insertedRows }])
  })

  it('returns different errors for an unknown host, page and column', async () => {
    await expect(readTable(parts, { hostKey: 'other', name: 'disks' })).rejects.toMatchObject({
      details: { reason: 'unknown-host' },
    })
    await expect(readTable(parts, { hostKey, name: 'diskz' })).rejects.toMatchObject({ code: 'not-found' })
    await expect(readTable(parts, { ...settings, sort: { column: 'x', direction: 'asc' } })).rejects.toMatchObject({
      code: 'invalid',
    })
  })
})

describe('name lists', () => {
  it('contain the user tables', async () => {
    expect(await parts.handlers.databaseTables({ hostKey, limit: 10 }, createCall())).toEqual([
      { database: databases, table: 'events', engine: 'MergeTree', totalRows: inserts * insertedRows },
    ])
  })

  it('omit the inner tables of materialized views in every database', async () => {
    await direct('CREATE DATABASE named_otherwise')
    await direct(
      'CREATE MATERIALIZED VIEW named_otherwise.totals ENGINE = SummingMergeTree ORDER BY id POPULATE AS SELECT 1 AS id, 2 AS amount',
    )
    await direct('CREATE TABLE named_otherwise.`.inner.old` (id UInt8) ENGINE = Memory')
    await direct('CREATE TABLE named_otherwise.`.innermost` (id UInt8) ENGINE = Memory')
    const named = "database = 'named_otherwise'"
    expect(await direct(`SELECT count() FROM system.tables WHERE ${named} AND name LIKE '.inner_id.%'`)).toBe('1')
    const listed = await parts.handlers.databaseTables({ hostKey, limit: 10, search: 'named_otherwise' }, createCall())
    expect(listed.map(({ table }) => table).toSorted()).toEqual(['.innermost', 'totals'])
    await direct('DROP DATABASE named_otherwise')
  })

  it('contain hosts without URL, user and password', async () => {
    expect(await parts.handlers.hosts({}, createCall())).toEqual([
      { id: 0, key: hostKey, name: hostKey, host: new URL(sandbox.url).host, group: null, tags: [] },
    ])
  })
})
