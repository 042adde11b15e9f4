import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchText } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'

const startLimitMs = 180_000
const definitions = [
  'CREATE DATABASE cafe',
  `CREATE TABLE cafe.orders (id UInt64, guest UInt32, at DateTime, day Date, kind LowCardinality(String), note String,
     price Decimal(9, 2), tags Array(String), place Tuple(town String), hint Nullable(String))
   ENGINE = MergeTree ORDER BY id SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 0`,
  `INSERT INTO cafe.orders SELECT number, intDiv(number, 100), toDateTime('2026-01-01 00:00:00') + number * 60,
     toDate('2026-01-01') + intDiv(number, 1440), ['eat\\'in', 'take'][1 + number % 2], concat('n\\n', toString(number)),
     number / 4, [toString(number % 3)], tuple(['Rome', 'Oslo'][1 + number % 2]), if(number % 5, 'x', NULL)
   FROM numbers(20000)`,
  'OPTIMIZE TABLE cafe.orders FINAL',
]

let sandbox: Sandbox
let parts: TestService
const direct = async (sql: string) => Number(await fetchText(sandbox.url, sql))
const reads = (query: string, hostKey = 'box') => parts.handlers.statementReads({ hostKey, query }, createCall())

beforeAll(async () => {
  sandbox = await startSandbox()
  for (const sql of definitions) await fetchText(sandbox.url, sql)
  parts = await openTestService({
    COLUMNDB_HOST: [sandbox.url, sandbox.url, sandbox.url].join(','),
    COLUMNDB_NAME: 'box,careful,reports',
    COLUMNDB_USER: 'default,analyst,reports',
    COLUMNDB_PASSWORD: ',analyst,reports',
  })
}, startLimitMs)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

describe('conditions', () => {
  it.each([
    ['guest = 7', 'equality', 'guest'],
    ['7 = guest', 'equality', 'guest'],
    ['guest IN (1, 2, 3)', 'equality', 'guest'],
    ['has([1, 2], guest)', 'equality', 'guest'],
    ["kind = 'eat\\'in'", 'equality', 'kind'],
    ["note = 'n\\n17'", 'equality', 'note'],
    ['guest > -1.5', 'range', 'guest'],
    ["at >= '2026-01-05 00:00:00'", 'range', 'at'],
    ["at < toDateTime('2026-01-05 00:00:00') + INTERVAL 1 DAY", 'range', 'at'],
    ["day <= toDate('2026-01-05')", 'range', 'day'],
    ["note LIKE '%99%'", 'text', 'note'],
    ["startsWith(note, 'n\\n1')", 'text', 'note'],
    ['price > 100.25', 'range', 'price'],
    ["place.town = 'Rome'", 'equality', 'place.town'],
    ['hint IS NULL', 'other', null],
    ['guest % 3 = 0', 'other', null],
    ["guest = 7 OR kind = 'take'", 'other', null],
    ["NOT (has(tags, '1'))", 'other', null],
    ["hint = 'x'", 'equality', 'hint'],
  ])('returns %s as SQL that matches the same rows', async (condition, kind, column) => {
    const { reads: found } = await reads(`SELECT note FROM cafe.orders AS o WHERE ${condition}`)
    expect(found).toMatchObject([{ database: 'cafe', table: 'orders', conditions: [{ kind, column }] }])
    const sql = found[0]?.conditions[0]?.sql ?? ''
    const counted = await parts.handlers.countMatches(
      { hostKey: 'box', database: 'cafe', table: 'orders', condition: sql, rowsPerMark: 1024 },
      createCall(),
    )
    expect(counted).toEqual({
      rows: 20_000,
      matchingRows: await direct(`SELECT count() FROM cafe.orders WHERE ${condition}`),
      matchingGranules: await direct(
        `SELECT uniqExact(intDiv(_part_offset, 1024)) FROM cafe.orders WHERE ${condition}`,
      ),
    })
  })

  it.each(['id IN (SELECT number FROM numbers(3))', 'arrayExists(tag -> tag = note, tags)'])(
    '%s, which only its statement can say, is left out',
    async (condition) => {
      const { reads: found } = await reads(`SELECT note FROM cafe.orders WHERE guest = 7 AND ${condition}`)
      expect(found.map(({ conditions }) => conditions.map(({ column }) => column))).toEqual([['guest']])
    },
  )
})

describe('a statement', () => {
  it('is listed by table, with the marks that the host would read', async () => {
    const query = `WITH seven AS (SELECT id FROM cafe.orders WHERE id < 2000 AND guest = 7)
      SELECT count() FROM seven JOIN system.tables AS t ON t.total_rows = seven.id`
    expect(await reads(query)).toMatchObject({
      reads: [
        { table: 'orders', marks: 2, isAlone: false, hasPrewhere: true, columns: [{ name: 'id' }, { name: 'guest' }] },
      ],
      others: [{ name: 'system.tables', reason: 'engine' }],
    })
  })

  it('is grouped when one projection can serve it', async () => {
    const groupingOf = async (query: string) => (await reads(query)).reads[0]?.grouping
    const simple = 'SELECT kind, quantile(0.9)(guest), countIf(guest > 5) FROM cafe.orders GROUP BY kind'
    expect(await groupingOf(simple)).toEqual({
      keys: ['`kind`'],
      aggregates: ['quantile(0.9)(`guest`)', 'countIf((`guest` > 5))'],
      hasValues: true,
    })
    expect(await groupingOf('SELECT kind, sum(guest) FROM cafe.orders GROUP BY kind')).toMatchObject({
      hasValues: false,
    })
    expect(await groupingOf(`${simple} WITH TOTALS`)).toBeNull()
    expect(await groupingOf(`${simple} WITH ROLLUP`)).toBeNull()
    expect(await groupingOf('SELECT note FROM cafe.orders')).toBeNull()
  })

  it('that reads a table twice is marked', async () => {
    const { others } = await reads('SELECT a.id FROM cafe.orders AS a JOIN cafe.orders AS b ON a.id = b.guest')
    expect(others).toEqual([{ name: 'cafe.orders', reason: 'repeated' }])
  })
})

describe('a hypothetical index', () => {
  const request = {
    database: 'cafe',
    table: 'orders',
    column: 'guest',
    condition: 'guest = 7',
    type: 'minmax' as const,
  }

  it.each(['box', 'careful'])('keeps the expected granules, also under readonly = 1: %s', async (hostKey) => {
    const tried = await parts.handlers.tryIndex({ hostKey, ...request }, createCall())
    expect(tried).toEqual({ outcome: 'tried', marks: 1, isEmpirical: true })
    expect(await direct("SELECT count() FROM system.data_skipping_indices WHERE database = 'cafe'")).toBe(0)
  })

  it('uses its own session under concurrency', async () => {
    const types = ['minmax', 'set(100)', 'bloom_filter(0.01)', 'minmax'] as const
    const all = await Promise.all(
      types.map((type) => parts.handlers.tryIndex({ hostKey: 'box', ...request, type }, createCall())),
    )
    expect(all.map(({ outcome }) => outcome)).toEqual(['tried', 'tried', 'tried', 'tried'])
  })

  it('is unsuitable for a column of another type', async () => {
    const unsuited = { ...request, type: 'ngrambf_v1(4, 4096, 2, 0)' as const }
    expect(await parts.handlers.tryIndex({ hostKey: 'box', ...unsuited }, createCall())).toMatchObject({
      outcome: 'of-no-use',
    })
  })

  it('is rejected for unreadable tables and engines without granules', async () => {
    const denied = await parts.handlers.tryIndex({ hostKey: 'reports', ...request }, createCall())
    const system = { ...request, database: 'system', table: 'one', column: 'dummy', condition: 'dummy = 0' }
    expect(denied).toMatchObject({ outcome: 'not-possible' })
    expect(await parts.handlers.tryIndex({ hostKey: 'box', ...system }, createCall())).toEqual(denied)
  })

  it.each(["1) FROM url('http://127.0.0.1/') WHERE (1", '1; DROP TABLE cafe.orders'])(
    'takes no condition that reaches further: %s',
    async (condition) => {
      const trying = parts.handlers.tryIndex({ hostKey: 'box', ...request, condition }, createCall())
      await expect(trying).rejects.toMatchObject({ code: 'invalid' })
      const counting = { hostKey: 'box', database: 'cafe', table: 'orders', condition, rowsPerMark: 1 }
      await expect(parts.handlers.countMatches(counting, createCall())).rejects.toMatchObject({ code: 'invalid' })
    },
  )
})

it('counts groups and the rows of matching groups', async () => {
  const request = { hostKey: 'box', database: 'cafe', table: 'orders', keys: ['day'], condition: "day = '2026-01-03'" }
  expect(await parts.handlers.countGroups(request, createCall())).toEqual({
    groups: await direct('SELECT uniqExact(day) FROM cafe.orders'),
    matchingGroups: 1,
    matchingRows: 1_440,
  })
})
