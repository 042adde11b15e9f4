import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { startToolServer, type ToolServer } from '../testing/tool-server.ts'

const startLimitMs = 180_000
const name = 'get_optimization_recommendations'

const AdviceResult = z.object({
  recommendations: z.array(
    z.looseObject({
      kind: z.string(),
      title: z.string(),
      table: z.string(),
      ddl: z.string().nullable(),
      rewritten: z.string().nullable(),
      proof: z.string(),
      savings: z
        .object({ marksBefore: z.number(), marksAfter: z.number(), bytesBefore: z.number(), bytesAfter: z.number() })
        .nullable(),
    }),
  ),
  notes: z.array(z.string()),
})

const settings = 'SETTINGS index_granularity = 1024, min_bytes_for_wide_part = 0'
const text = 'repeat(hex(cityHash64(number)), 10)'
const statements = [
  'CREATE DATABASE `ad.vice`',
  'CREATE DATABASE advice',
  // Rows are sorted by user, so that each granule contains few users.
  `CREATE TABLE advice.visits (id UInt64, user UInt32, note String) ENGINE = MergeTree ORDER BY id ${settings}`,
  `INSERT INTO advice.visits SELECT number, intDiv(number, 1000), ${text} FROM numbers(200000)`,
  // Every granule contains every month and nearly every guest.
  `CREATE TABLE advice.scattered (id UInt64, guest UInt32, day Date, note String) ENGINE = MergeTree ORDER BY id ${settings}`,
  `INSERT INTO advice.scattered SELECT number, number % 997, toDate('2025-01-01') + number % 365, ${text} FROM numbers(200000)`,
  `CREATE TABLE advice.versions (id UInt64, region UInt16, version UInt8, note String) ENGINE = ReplacingMergeTree(version) ORDER BY (id, region) ${settings}`,
  `INSERT INTO advice.versions SELECT number, intDiv(number, 10000), 1, ${text} FROM numbers(200000)`,
  'CREATE VIEW advice.seen AS SELECT * FROM advice.visits',
  'CREATE TABLE advice.tiny (id UInt64, note String) ENGINE = MergeTree ORDER BY id',
  "INSERT INTO advice.tiny SELECT number, 'x' FROM numbers(1000)",
  `CREATE TABLE \`ad.vice\`.\`o'd\` (\`a b\` UInt64, id UInt64) ENGINE = MergeTree ORDER BY id ${settings}`,
  "INSERT INTO `ad.vice`.`o'd` SELECT intDiv(number, 1000), number FROM numbers(200000)",
  ...['visits', 'scattered', 'versions'].map((table) => `OPTIMIZE TABLE advice.${table} FINAL`),
  "OPTIMIZE TABLE `ad.vice`.`o'd` FINAL",
]

describe('advice on a statement', () => {
  let server: ToolServer
  beforeAll(async () => {
    server = await startToolServer('memory')
    for (const statement of statements) await queryClickHouse(server.hostUrl, statement)
  }, startLimitMs)
  afterAll(() => server?.[Symbol.asyncDispose]())

  const engine = (sql: string) => queryClickHouse(server.hostUrl, sql)
  const advise = async (given: object) => {
    const { isError, content, structuredContent } = await server.call(name, given)
    expect(isError, content[0]?.text).toBe(false)
    return AdviceResult.parse(structuredContent)
  }
  const adviceOf = async (kind: string, sql: string) => {
    const { recommendations } = await advise({ sql })
    const found = recommendations.find((each) => each.kind === kind)
    if (!found?.savings)
      throw new Error(`no recommendation of kind "${kind}"; found: ${JSON.stringify(recommendations)}`)
    return { ...found, savings: found.savings }
  }
  const refusal = async (given: object) => {
    const { isError, content } = await server.call(name, given)
    expect(isError).toBe(true)
    return content[0]?.text ?? ''
  }
  /** Returns the number of marks that EXPLAIN ESTIMATE reports for a statement. */
  const marksOf = async (sql: string): Promise<number> => {
    const rows = z.array(z.object({ marks: z.number() })).parse(await engine(`EXPLAIN ESTIMATE ${sql}`))
    return rows.reduce((sum, { marks }) => sum + marks, 0)
  }
  const follow = async (ddl: string | null) => {
    for (const statement of (ddl ?? '').split(';\n')) {
      await engine(statement.startsWith('ALTER') ? `${statement} SETTINGS mutations_sync = 2` : statement)
    }
  }

  it.each([
    ['SELECT note FROM advice.visits WHERE user = 77'],
    ["SELECT count() FROM `ad.vice`.`o'd` WHERE `a b` = 77"],
  ])('names a skip index, and once it is built %s reads just what was promised', async (sql) => {
    const before = await marksOf(sql)
    const { proof, savings, ddl, title } = await adviceOf('skip-index', sql)
    expect(title).toContain('minmax')
    expect([proof, savings.marksBefore]).toEqual(['verified', before])
    expect(savings.bytesAfter).toBeLessThan(savings.bytesBefore)
    await follow(ddl)
    expect(await marksOf(sql)).toBe(savings.marksAfter)
    expect((await advise({ sql })).recommendations.filter(({ kind }) => kind === 'skip-index')).toEqual([])
  })

  it('recommends a projection that reads no more than estimated', async () => {
    const sql = 'SELECT note FROM advice.scattered WHERE guest = 7'
    const { proof, savings, ddl } = await adviceOf('projection', sql)
    expect([proof, savings.marksBefore]).toEqual(['estimated', await marksOf(sql)])
    await follow(ddl)
    const after = await marksOf(sql)
    expect(after).toBeGreaterThan(0)
    expect(after).toBeLessThanOrEqual(savings.marksAfter)
  })

  it('recommends an aggregating projection that returns the same result', async () => {
    const sql = 'SELECT guest, count(), max(day) FROM advice.scattered GROUP BY guest ORDER BY guest'
    const answer = await engine(sql)
    const { savings, ddl } = await adviceOf('projection', sql)
    await follow(ddl)
    const after = await marksOf(sql)
    expect(after).toBeGreaterThan(0)
    expect(after).toBeLessThanOrEqual(savings.marksAfter)
    expect(await engine(sql)).toEqual(answer)
  })

  it('recommends an aggregating materialized view that returns the same result', async () => {
    const sql = 'SELECT user, count(), max(id) FROM advice.visits GROUP BY user ORDER BY user'
    const { proof, ddl } = await adviceOf('materialized-view', sql)
    expect(proof).toBe('estimated')
    await follow(ddl)
    const merged = 'countMerge(state_1), maxMerge(state_2) FROM advice.visits_groups'
    const values = (rows: Record<string, unknown>[]) => rows.map((row) => Object.values(row))
    const answer = await engine(`SELECT key_1, ${merged} GROUP BY key_1 ORDER BY key_1`)
    expect(values(answer)).toEqual(values(await engine(sql)))
  })

  it('recommends a partition key that prunes the other months', async () => {
    const sql = "SELECT note FROM advice.scattered WHERE day BETWEEN '2025-03-02' AND '2025-03-30'"
    const { proof, savings, ddl } = await adviceOf('partition-key', sql)
    const [march] = await engine(
      'SELECT ceil(count() / 1024) AS marks FROM advice.scattered WHERE toMonth(day) = 3 AND toYear(day) = 2025',
    )
    expect([proof, savings.marksAfter]).toEqual(['estimated', march?.marks])
    const rows = await engine('SELECT count() AS rows, sum(cityHash64(note)) AS sum FROM advice.scattered')
    await follow(ddl)
    expect(await engine('SELECT count() AS rows, sum(cityHash64(note)) AS sum FROM advice.scattered')).toEqual(rows)
    expect(await marksOf(sql)).toBe(savings.marksAfter)
  })

  it('recommends PREWHERE if the host does not move the filter, with the same result', async () => {
    const sql = "SELECT note FROM advice.versions FINAL WHERE region = 7 AND note != 'x' ORDER BY id"
    const { rewritten, ddl, savings } = await adviceOf('prewhere', sql)
    expect([ddl, rewritten]).toEqual([null, expect.stringMatching(/^PREWHERE \(`region` = 7\)$/m)])
    const [granules] = await engine(
      'SELECT uniqExact(intDiv(_part_offset, 1024)) AS marks FROM advice.versions WHERE region = 7',
    )
    expect(savings.marksAfter).toBe(granules?.marks)
    expect(await engine(rewritten ?? '')).toEqual(await engine(sql))
  })

  it('does not recommend PREWHERE with FINAL for columns outside the sorting key', async () => {
    const { recommendations } = await advise({ sql: "SELECT id FROM advice.versions FINAL WHERE note = 'x'" })
    expect(recommendations).toEqual([])
  })

  it('analyzes each table of a join', async () => {
    const sql = `SELECT v.note FROM advice.versions AS v JOIN advice.scattered AS s ON s.id = v.id
      WHERE v.region = 7 AND s.note LIKE 'never there%'`
    const { recommendations } = await advise({ sql })
    expect(recommendations.map(({ table, proof }) => [table, proof])).toEqual(
      expect.arrayContaining([
        ['advice.versions', 'verified'],
        ['advice.scattered', 'verified'],
      ]),
    )
  })

  it.each([
    ['SELECT note FROM advice.visits WHERE cityHash64(note) % 2 = 0', 'would save 20%'],
    ['SELECT note FROM advice.scattered WHERE id >= 0', 'would save 20%'],
    [
      "SELECT count() FROM advice.tiny WHERE note = 'y'",
      'advice.tiny was skipped: the query reads only 1 of its granules',
    ],
    ['SELECT count() FROM advice.seen WHERE user = 5', 'advice.seen was skipped'],
    ['SELECT name FROM system.tables', 'system.tables was skipped'],
    ['SELECT a.id FROM advice.visits AS a JOIN advice.visits AS b ON a.id = b.user', 'read more than once'],
    ['SELECT number FROM numbers(10)', 'reads no table'],
  ])('has none for %s, and says why', async (sql, why) => {
    const { recommendations, notes } = await advise({ sql })
    expect(recommendations).toEqual([])
    expect(notes.join(' ')).toContain(why)
  })

  it.each([
    [{ sql: 'DROP TABLE advice.tiny' }, 'must begin with SELECT'],
    [{ sql: 'DESCRIBE TABLE advice.tiny' }, 'for SELECT statements only'],
    [{ sql: "SELECT * FROM url('http://127.0.0.1/')" }, 'url() is not allowed'],
    [{ sql: 'SELECT 1 FROM advice.nothing' }, 'UNKNOWN_TABLE'],
    [{ sql: 'SELECT 1 +' }, 'SYNTAX_ERROR'],
    [{}, 'either'],
    [{ sql: 'SELECT 1', queryId: 'x' }, 'either'],
    [{ queryId: 'never-was' }, 'has no query with this ID'],
    [{ sql: 'SELECT 1', hostId: 7 }, 'unknown host'],
  ])('refuses %j', async (given, reason) => {
    const sentence = await refusal(given)
    expect(sentence).toContain(reason)
    expect(sentence).not.toContain(new URL(server.hostUrl).host)
  })

  it('takes a statement from the log without its literal values', async () => {
    const run = async (id: string, sql: string, method: string) =>
      fetch(`${server.hostUrl}/?database=advice&query_id=${id}`, { method, body: sql })
    await run('advised', "SELECT note FROM versions FINAL WHERE region = 7 AND note != 'secret'", 'POST')
    await run('grouped', "SELECT user, countIf(note = 'secret') FROM visits GROUP BY user", 'POST')
    await run('inserted', "INSERT INTO tiny VALUES (0, 'x')", 'POST')
    await run('dropped', "SELECT toUInt64('secret') FROM versions", 'POST')
    await engine('SYSTEM FLUSH LOGS query_log')
    const logged =
      "SELECT count() AS ids FROM system.query_log WHERE type != 'QueryStart' AND query_id IN ('advised', 'grouped', 'inserted', 'dropped')"
    await retryUntil(
      () => engine(logged),
      ([row]) => Number(row?.ids) >= 4,
    )
    const { recommendations } = await advise({ queryId: 'advised' })
    expect(recommendations.map(({ kind, rewritten }) => [kind, rewritten])).toContainEqual(['prewhere', null])
    const grouped = await advise({ queryId: 'grouped' })
    expect(grouped.recommendations.map(({ kind, ddl }) => [kind, ddl])).toContainEqual(['projection', null])
    expect(JSON.stringify([recommendations, grouped])).not.toContain('secret')
    expect(await refusal({ queryId: 'inserted' })).toContain('of kind Insert')
    expect(await refusal({ queryId: 'dropped' })).not.toContain('secret')
  })
})
