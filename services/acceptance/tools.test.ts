import { Ajv2020 } from 'ajv/dist/2020.js'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { tools } from '../mcp/tools/index.ts'
import { startToolServer, type ToolServer } from '../testing/tool-server.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const startLimitMs = 180_000
const names = tools.map(({ name }) => name)
/** Tools that return text, and structured content on request. */
const textTools: ReadonlySet<string> = new Set(tools.flatMap(({ name, format }) => (format ? [name] : [])))

describeOnTopologies('the tool server has tools', (topology) => {
  let server: ToolServer
  beforeAll(async () => {
    server = await startToolServer(topology)
  }, startLimitMs)
  afterAll(() => server?.[Symbol.asyncDispose]())

  const facts = async (name: string, given: object = {}) => {
    const isText = textTools.has(name)
    const request = isText ? { ...given, structured: true } : given
    const { isError, content, structuredContent } = await server.call(name, request)
    expect(isError, content[0]?.text).toBe(false)
    if (!isText) expect(JSON.parse(content[1]?.text ?? '')).toEqual(structuredContent)
    return structuredContent
  }
  const failure = async (name: string, given: object = {}) => {
    const { isError, content } = await server.call(name, given)
    expect(isError).toBe(true)
    return content[0]?.text
  }

  it('that only read, declare their input, and fit into 3,500 tokens', async () => {
    const { tools } = await server.client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(names)
    for (const { name, title, description = '', annotations, inputSchema, outputSchema } of tools) {
      expect(title).toBeTruthy()
      expect(description.length).toBeLessThan(200)
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
      expect(inputSchema.properties).toHaveProperty('hostId')
      if (textTools.has(name)) expect(outputSchema).toBeUndefined()
      else expect(outputSchema).toMatchObject({ type: 'object' })
    }
    for (const { result } of [await server.classic('tools/list'), await server.current('tools/list')]) {
      expect(countTokens(JSON.stringify({ jsonrpc: '2.0', id: 1, result }))).toBeLessThanOrEqual(3_500)
    }
  })

  it('whose results match their schemas', async () => {
    const given: Record<string, object> = {
      query: { sql: 'SELECT 1, NULL, [1], toDecimal64(1, 2)' },
      list_tables: { database: 'cafe' },
      get_table_schema: { database: 'cafe', table: 'guests' },
      explore_table_schema: { database: 'cafe', table: 'visits' },
      get_optimization_recommendations: { sql: "SELECT count() FROM cafe.guests WHERE name = 'y'" },
    }
    const ajv = new Ajv2020({ strict: false })
    const schemas = new Map((await server.client.listTools()).tools.map((tool) => [tool.name, tool.outputSchema]))
    for (const { name, output, example } of tools) {
      const result = await facts(name, given[name] ?? example)
      expect(ajv.validate(schemas.get(name) ?? true, result), `${name} ${ajv.errorsText()}`).toBe(true)
      // A strict schema, because the published one also accepts additional fields.
      expect(z.strictObject(output?.shape ?? {}).safeParse(result).error, name).toBeUndefined()
    }
  })

  it('query, which returns the rows of the host', async () => {
    const result = await facts('query', { sql: 'SELECT id, name FROM cafe.guests ORDER BY id DESC LIMIT 2' })
    expect(result).toMatchObject({
      columns: [
        { name: 'id', type: 'UInt32' },
        { name: 'name', type: 'String' },
      ],
      rows: [
        [1233, 'x'],
        [1232, 'x'],
      ],
      truncated: null,
    })
    const [user] = await queryClickHouse(server.hostUrl, 'SELECT currentUser() AS user')
    expect(await facts('query', { sql: 'SELECT currentUser()' })).toMatchObject({ rows: [[user?.user]] })
  })

  it.each([
    ['SELECT number FROM numbers(20000)', {}, { reason: 'rows', limit: 200, returned: 200 }],
    ['SELECT number FROM numbers(20000)', { maxRows: 10_000 }, { reason: 'bytes', limit: 51_200 }],
    ['SELECT number FROM numbers(20000)', { maxRows: 1 }, { reason: 'rows', limit: 1, returned: 1 }],
    ["SELECT repeat('x', 500000) FROM numbers(9)", {}, { reason: 'bytes', limit: 51_200, returned: 1 }],
    [
      "SELECT repeat('x', 500000) FROM numbers(9)",
      { maxBytes: 1_048_576 },
      { reason: 'bytes', limit: 1_048_576, returned: 2 },
    ],
  ])('query, which says in words and numbers that it cut %s', async (sql, more, truncated) => {
    const { limit, reason } = truncated
    const { content, structuredContent } = await server.call('query', { sql, structured: true, ...more })
    expect(structuredContent).toMatchObject({ truncated })
    const limited = limit === 1 ? '1 row' : `${limit} ${reason}`
    expect(content[0]?.text).toContain(`cut off at ${limited}: there are more`)
  })

  it.each([
    ['DROP TABLE cafe.guests', 'must begin with'],
    ['SELECT 1; SELECT 2', ''],
    ["SELECT * FROM url('http://127.0.0.1/')", ''],
    ["DESCRIBE TABLE url('http://127.0.0.1/')", ''],
    ['SELECT nothing FROM cafe.guests', 'nothing'],
  ])('query, which refuses %s with a reason and no address', async (sql, reason) => {
    const sentence = await failure('query', { sql })
    expect(sentence).toContain(reason)
    expect(sentence?.length).toBeLessThanOrEqual(2_000)
    expect(sentence).not.toContain(new URL(server.hostUrl).host)
  })

  it('list_databases, with the counts of the host', async () => {
    const databases = await queryClickHouse(server.hostUrl, 'SELECT name FROM system.databases ORDER BY name')
    const result = z
      .object({ databases: z.array(z.looseObject({ name: z.string() })) })
      .parse(await facts('list_databases'))
    const cafe = { name: 'cafe', engine: 'Atomic', comment: 'open all day', tables: 2, rows: 1234 }
    expect(result.databases.map(({ name }) => name).toSorted()).toEqual(databases.map(({ name }) => name).toSorted())
    expect(result.databases).toContainEqual(expect.objectContaining(cafe))
    expect(await facts('list_databases', { limit: 1 })).toMatchObject({ databases: [{}], truncated: true })
  })

  it('list_tables, with the rows and bytes of the parts', async () => {
    const sizes = await queryClickHouse(
      server.hostUrl,
      "SELECT sum(bytes_on_disk) AS bytes FROM system.parts WHERE active AND database = 'cafe' AND table = 'guests'",
    )
    expect(await facts('list_tables', { database: 'cafe', search: 'gues' })).toMatchObject({
      tables: [{ name: 'guests', bytes: sizes[0]?.bytes }],
    })
    expect(await facts('list_tables', { database: 'cafe' })).toMatchObject({
      tables: [{ name: 'guests', engine: 'MergeTree', rows: 1234 }, { name: 'latest' }, { name: 'visits', rows: 0 }],
      truncated: false,
    })
    expect(await facts('list_tables', { database: 'cafe', limit: 1 })).toMatchObject({ truncated: true })
  })

  it('get_table_schema, with suggestions for an unknown name', async () => {
    expect(await facts('get_table_schema', { database: 'cafe', table: 'guests' })).toMatchObject({
      engine: 'MergeTree',
      sortingKey: 'id',
      rows: 1234,
      columns: [
        { name: 'id', type: 'UInt32' },
        { name: 'name', type: 'String', comment: 'as they say' },
      ],
    })
    expect(await facts('get_table_schema', { database: 'cafe', table: 'visits' })).toMatchObject({
      columns: [{ name: 'guest' }, { name: 'at', defaultKind: 'DEFAULT', defaultExpression: 'now()' }],
    })
    expect(await failure('get_table_schema', { database: 'cafe', table: 'guest' })).toContain('guests')
  })

  it('get_slow_queries, with queries that are still running', async () => {
    const running = queryClickHouse(
      server.hostUrl,
      'SELECT sleepEachRow(0.02), 4711 FROM numbers(100) SETTINGS max_block_size = 1',
    )
    const result = await retryUntil(
      async () => JSON.stringify(await facts('get_slow_queries')),
      (text) => text.includes('sleepEachRow'),
    )
    expect(JSON.parse(result).queries).toContainEqual(
      expect.objectContaining({ status: 'running', error: '', endedMs: null }),
    )
    await running
  })

  it('get_merge_status, with the current merges of the host', async () => {
    await queryClickHouse(server.hostUrl, 'CREATE TABLE cafe.slow (id UInt8) ENGINE = MergeTree ORDER BY id')
    await queryClickHouse(server.hostUrl, 'INSERT INTO cafe.slow SELECT number FROM numbers(100)')
    // The mutation sleeps for every row, so it runs long enough for the tool to report it.
    const mutating = queryClickHouse(server.hostUrl, 'ALTER TABLE cafe.slow DELETE WHERE sleepEachRow(0.02) = 1')
    const result = await retryUntil(
      async () => JSON.stringify(await facts('get_merge_status')),
      (text) => text.includes('"table":"slow"'),
    )
    const slow = { database: 'cafe', table: 'slow', parts: 1, isMutation: true }
    expect(JSON.parse(result).merges).toContainEqual(expect.objectContaining(slow))
    await mutating
    expect(JSON.stringify(await facts('get_merge_status'))).not.toContain('slow')
    await queryClickHouse(server.hostUrl, 'DROP TABLE cafe.slow SYNC')
  })

  it('get_merge_status, with the progress and the time of a merge, longest first', async () => {
    const Merges = z.object({ merges: z.array(z.looseObject({ table: z.string(), progress: z.number() })) })
    await queryClickHouse(
      server.hostUrl,
      'CREATE TABLE cafe.dense (id UInt64, text String) ENGINE = MergeTree ORDER BY id',
    )
    await queryClickHouse(server.hostUrl, 'SYSTEM STOP MERGES cafe.dense')
    for (const first of [0, 1]) {
      const rows = `SELECT number * 2 + ${first}, hex(cityHash64(number)) FROM numbers(200000)`
      await queryClickHouse(server.hostUrl, `INSERT INTO cafe.dense ${rows}`)
    }
    // The codec changes after the inserts: writing is fast, but the merge is slow enough to be visible.
    await queryClickHouse(server.hostUrl, 'ALTER TABLE cafe.dense MODIFY COLUMN text String CODEC(ZSTD(19))')
    await queryClickHouse(server.hostUrl, 'SYSTEM START MERGES cafe.dense')
    const merging = queryClickHouse(server.hostUrl, 'OPTIMIZE TABLE cafe.dense FINAL')
    const seen = await retryUntil(
      async () => Merges.parse(await facts('get_merge_status')).merges.find(({ table }) => table === 'dense'),
      (merge) => merge !== undefined && merge.progress > 0,
    )
    expect(seen).toMatchObject({ isMutation: false, parts: 2, elapsedSeconds: expect.any(Number) })
    expect(seen?.progress).toBeLessThanOrEqual(1)
    expect(seen?.elapsedSeconds).toBeGreaterThan(0)
    await merging
    await queryClickHouse(server.hostUrl, 'DROP TABLE cafe.dense SYNC')
  })

  it('explore_table_schema, which leads from databases to a schema with its relationships', async () => {
    expect(await facts('explore_table_schema')).toMatchObject({
      level: 'databases',
      names: expect.arrayContaining(['cafe']),
    })
    const tables = { level: 'tables', names: ['guests', 'latest', 'visits'] }
    expect(await facts('explore_table_schema', { database: 'cafe' })).toMatchObject(tables)
    expect(await facts('explore_table_schema', { database: 'cafe', table: 'visits' })).toMatchObject({
      level: 'schema',
      schema: { columns: [{ name: 'guest' }, { name: 'at' }] },
      relationships: expect.arrayContaining([
        { kind: 'view', from: 'cafe.visits', to: 'cafe.latest', queries: null },
        { kind: 'join', from: 'cafe.visits', to: 'cafe.guests', queries: 1 },
      ]),
    })
    expect(await failure('explore_table_schema', { table: 'visits' })).toContain('requires database')
  })

  it('get_metrics, with the version of the host', async () => {
    const said = async () => {
      const figures =
        "SELECT version() AS version, uptime() AS uptime, (SELECT value FROM system.metrics WHERE metric = 'TCPConnection') AS tcp"
      const [row] = await queryClickHouse(server.hostUrl, figures)
      return row
    }
    const before = await said()
    const result = await facts('get_metrics')
    expect(result).toMatchObject({ version: before?.version, connections: { tcp: before?.tcp } })
    expect(result?.uptimeSeconds).toBeGreaterThanOrEqual(Number(before?.uptime))
    expect(result?.uptimeSeconds).toBeLessThanOrEqual(Number((await said())?.uptime))
    expect(result?.memoryUsedBytes).toBeGreaterThan(0)
  })

  it('get_running_queries, without literal values', async () => {
    const running = fetch(`${server.hostUrl}/?query_id=held`, {
      method: 'POST',
      body: "SELECT count() FROM system.numbers WHERE toString(number) = 'secret value'",
    }).catch(() => {})
    const result = await retryUntil(
      async () => JSON.stringify(await facts('get_running_queries')),
      (text) => text.includes('system.numbers'),
    )
    // A closed connection may end them late, and later tests measure what runs.
    await queryClickHouse(server.hostUrl, "KILL QUERY WHERE query_id = 'held' SYNC")
    await running
    expect(result).toContain('"queryId":"held","user":"default","kind":"Select"')
    expect(result).not.toContain('secret value')
  })

  it('get_running_queries, the longest first', async () => {
    const Running = z.object({ queries: z.array(z.looseObject({ queryId: z.string(), elapsedSeconds: z.number() })) })
    const hold = (queryId: string) =>
      fetch(`${server.hostUrl}/?query_id=${queryId}`, {
        method: 'POST',
        body: 'SELECT count() FROM system.numbers WHERE NOT ignore(number)',
      }).catch(() => {})
    const held = async (count: number) =>
      retryUntil(
        async () =>
          Running.parse(await facts('get_running_queries')).queries.filter(({ queryId }) => /^h-\d$/.test(queryId)),
        (queries) => queries.length === count,
      )
    const running = [hold('h-2')]
    await held(1)
    running.push(hold('h-1'))
    const queries = await held(2)
    await queryClickHouse(server.hostUrl, "KILL QUERY WHERE query_id IN ('h-1', 'h-2') SYNC")
    await Promise.all(running)
    expect(queries.map(({ queryId }) => queryId)).toEqual(['h-2', 'h-1'])
    expect(queries[0]?.elapsedSeconds).toBeGreaterThan(Number(queries[1]?.elapsedSeconds))
  })

  it('get_slow_queries, the slowest first, within the requested time and without own statements', async () => {
    const Slow = z.object({
      queries: z.array(z.looseObject({ durationMs: z.number(), endedMs: z.number().nullable() })),
    })
    await queryClickHouse(server.hostUrl, 'SYSTEM FLUSH LOGS query_log')
    const { queries } = Slow.parse(await facts('get_slow_queries', { lastHours: 1, limit: 5 }))
    const durations = queries.map(({ durationMs }) => durationMs)
    expect(durations).toEqual(durations.toSorted((one, other) => other - one))
    const ofTools = `log_comment = '{"watchhouse":"tool"}'`
    const others = `(http_user_agent != 'watchhouse' OR log_comment = '{"watchhouse":"console"}')`
    const [slowest] = await queryClickHouse(
      server.hostUrl,
      `SELECT maxIf(query_duration_ms, ${others}) AS ms, countIf(${ofTools}) > 0 AS found FROM system.query_log
      WHERE type = 'QueryFinish' AND is_initial_query AND event_time >= now() - 3600`,
    )
    expect(slowest).toEqual({ ms: durations[0], found: 1 })
    const [{ ms: nowMs } = {}] = await queryClickHouse(server.hostUrl, 'SELECT toUnixTimestamp(now()) * 1000 AS ms')
    for (const { endedMs } of queries)
      expect(endedMs ?? Number(nowMs)).toBeGreaterThanOrEqual(Number(nowMs) - 3_600_000)
    const long = Number(slowest?.ms) + 1
    expect(await facts('get_slow_queries', { lastHours: 1, minDurationMs: long })).toEqual({
      queries: [],
      unavailable: null,
    })
  })

  it('analyze_performance, one snapshot whose severity is that of its worst finding', async () => {
    const Snapshot = z.object({
      severity: z.string(),
      findings: z.array(z.looseObject({ check: z.string(), severity: z.string(), value: z.number().nullable() })),
    })
    const [crumbs, copies] = [31, 10]
    for (const table of ['cafe.crumb', 'cafe.crumbs']) {
      await queryClickHouse(server.hostUrl, `CREATE TABLE ${table} (id UInt32) ENGINE = MergeTree ORDER BY id`)
      await queryClickHouse(server.hostUrl, `SYSTEM STOP MERGES ${table}`)
    }
    const eachAlone = 'SETTINGS max_block_size = 1, min_insert_block_size_rows = 1'
    await queryClickHouse(server.hostUrl, `INSERT INTO cafe.crumb SELECT number FROM numbers(${crumbs}) ${eachAlone}`)
    // Copies the partition, because an insert waits for every part, which takes minutes on a busy machine.
    for (let copy = 0; copy < copies; copy++)
      await queryClickHouse(server.hostUrl, 'ALTER TABLE cafe.crumbs ATTACH PARTITION tuple() FROM cafe.crumb')
    const { severity, findings } = Snapshot.parse(await facts('analyze_performance'))
    for (const table of ['cafe.crumb', 'cafe.crumbs']) await queryClickHouse(server.hostUrl, `DROP TABLE ${table} SYNC`)
    expect(findings.map(({ check }) => check)).toEqual([
      'slow-queries',
      'parts-per-partition',
      'merge-backlog',
      'memory',
      'disk',
    ])
    const severities = ['ok', 'unknown', 'warning', 'critical']
    const worst = Math.max(...findings.map((finding) => severities.indexOf(finding.severity)))
    expect(severity).toBe(severities[worst])
    expect(findings[1]).toMatchObject({
      severity: 'warning',
      value: crumbs * copies,
      where: expect.arrayContaining([{ name: 'cafe.crumbs tuple()', value: crumbs * copies }]),
    })
    const [disk] = await queryClickHouse(
      server.hostUrl,
      'SELECT max(100 * (1 - free_space / total_space)) AS used FROM system.disks WHERE total_space > 0',
    )
    expect(findings[4]?.value).toBeCloseTo(Number(disk?.used), 0)
  })

  it('that wait for the host instead of failing as busy: 12 agents with 3 tools each', async () => {
    const calls = Array.from({ length: 12 }, (_, agent) => [
      server.call('query', { sql: `SELECT sum(sipHash64(number + ${agent})) FROM numbers(2000000)` }),
      server.call('analyze_performance'),
      server.call('get_running_queries'),
    ])
    const results = await Promise.all(calls.flat())
    expect(results.filter(({ isError }) => isError).map(({ content }) => content[0]?.text)).toEqual([])
    expect(results).toHaveLength(36)
  })

  it('analyze_performance, which reports why a host does not respond, without a health status', async () => {
    expect(await failure('analyze_performance', { hostId: 1 })).toBe(
      'unavailable: host silent cannot be reached: nothing listens on its port',
    )
  })

  it('that explain missing data if the host has no query log', async () => {
    const without = async (name: string, given: object = {}) => {
      await queryClickHouse(server.hostUrl, 'DROP TABLE IF EXISTS system.query_log')
      return JSON.stringify(await server.call(name, given))
    }
    // ClickHouse recreates the table when it flushes the next entry, so the call is repeated.
    const isReported = (result: string) => result.includes('table system.query_log does not exist on host')
    const slow = await retryUntil(() => without('get_slow_queries'), isReported)
    expect(JSON.parse(slow)).toMatchObject({ isError: false, structuredContent: { queries: [] } })
    const explored = await retryUntil(
      () => without('explore_table_schema', { database: 'cafe', table: 'visits' }),
      isReported,
    )
    expect(JSON.parse(explored)).toMatchObject({ isError: false, structuredContent: { level: 'schema' } })
    const snapshot = await retryUntil(() => without('analyze_performance'), isReported)
    expect(JSON.parse(snapshot).structuredContent.findings[0]).toMatchObject({ severity: 'unknown', value: null })
    expect(snapshot).not.toContain('SELECT')
  })

  it('that query only the requested host', async () => {
    expect(await failure('query', { sql: 'SELECT 1', hostId: 7 })).toContain('available: 0 (one), 1 (silent)')
    expect(await failure('query', { sql: 'SELECT 1', hostId: 1 })).toContain('silent')
    for (const hostId of ['0', -1, 0.5]) expect(await failure('get_metrics', { hostId })).toContain('hostId')
    expect(await failure('get_metrics', { hostid: 1 })).toContain('hostid')
    expect(await facts('get_metrics', { hostId: null })).toMatchObject({ version: expect.any(String) })
  })
})
