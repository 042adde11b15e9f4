import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startSandbox, type Sandbox } from '../sandbox/start.ts'
import { ask, askEngine, eventually } from './ask.ts'
import { type Product, startProduct } from './product.ts'
import { describeOnTopologies } from './topologies.ts'

const startLimitMs = 180_000
const modern = '2026-07-28'
const names = [
  'query',
  'list_databases',
  'list_tables',
  'get_table_schema',
  'get_metrics',
  'get_running_queries',
  'get_slow_queries',
  'get_merge_status',
  'explore_table_schema',
  'analyze_performance',
]
const Told = z.looseObject({
  id: z.unknown(),
  result: z.looseObject({}).optional(),
  error: z.looseObject({}).optional(),
})
const Called = z.looseObject({
  isError: z.boolean().default(false),
  content: z.array(z.object({ type: z.literal('text'), text: z.string() })),
  structuredContent: z.looseObject({}).optional(),
})

describeOnTopologies('the tool server', (topology) => {
  let sandbox: Sandbox
  let product: Product
  let client: Client
  beforeAll(async () => {
    sandbox = await startSandbox({ label: 'one', seed: true })
    await askEngine(sandbox.url, 'CREATE DATABASE cafe')
    await askEngine(
      sandbox.url,
      "CREATE TABLE cafe.guests (id UInt32, name String COMMENT 'as they say') ENGINE = MergeTree ORDER BY id",
    )
    await askEngine(sandbox.url, 'CREATE TABLE cafe.visits (guest UInt32, at DateTime) ENGINE = MergeTree ORDER BY at')
    await askEngine(sandbox.url, 'CREATE VIEW cafe.latest AS SELECT guest, max(at) FROM cafe.visits GROUP BY guest')
    await askEngine(sandbox.url, "INSERT INTO cafe.guests SELECT number, 'x' FROM numbers(1234)")
    await askEngine(sandbox.url, 'SELECT count() FROM cafe.guests AS g JOIN cafe.visits AS v ON g.id = v.guest')
    await askEngine(sandbox.url, 'SYSTEM FLUSH LOGS')
    const hosts = [
      { url: sandbox.url, name: 'one' },
      { url: 'http://127.0.0.1:9', name: 'silent' },
    ]
    const env = { SVC_MCP_PUBLIC: 'true', RATE_LIMIT_MCP_PER_MIN: '100000' }
    product = await startProduct({ topology, hosts, env, toolServer: true })
    client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${product.url}/api/mcp`)))
  }, startLimitMs)
  afterAll(async () => {
    await client?.close()
    await product?.[Symbol.asyncDispose]()
    await sandbox?.[Symbol.asyncDispose]()
  })

  const send = async (message: object, headers: Record<string, string> = {}) => {
    const asked = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(message),
    }
    const { status, body } = await ask(`${product.url}/api/mcp`, asked)
    return { status, ...Told.parse(body) }
  }
  /** As curl does: without a handshake, an envelope or a wish for events. */
  const classic = (method: string, params: object = {}) => send({ jsonrpc: '2.0', id: 1, method, params })
  const current = (method: string, params: object = {}, headers: Record<string, string> = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': modern,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const routing = {
      'mcp-protocol-version': modern,
      'mcp-method': method,
      accept: 'application/json, text/event-stream',
    }
    return send({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }, { ...routing, ...headers })
  }
  const call = async (name: string, given: object = {}) =>
    Called.parse(await client.callTool({ name, arguments: { ...given } }))
  const facts = async (name: string, given: object = {}) => {
    const { isError, content, structuredContent } = await call(name, given)
    expect(isError, content[0]?.text).toBe(false)
    expect(JSON.parse(content[1]?.text ?? '')).toEqual(structuredContent)
    return structuredContent
  }
  const failure = async (name: string, given: object = {}) => {
    const { isError, content } = await call(name, given)
    expect(isError).toBe(true)
    return content[0]?.text
  }

  describe('speaks', () => {
    it('the classic era with and without a handshake', async () => {
      expect(client.getServerVersion()).toMatchObject({ name: 'watchhouse' })
      const shaken = await classic('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'curl', version: '8' },
      })
      expect(shaken.result).toMatchObject({
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: false } },
      })
      expect((await classic('ping')).result).toEqual({})
    })

    it('the era of today, whose lists say how long they hold', async () => {
      const { result } = await current('server/discover')
      expect(result).toMatchObject({
        resultType: 'complete',
        supportedVersions: [modern],
        ttlMs: 3_600_000,
        cacheScope: 'public',
      })
      expect((await current('tools/list')).result).toMatchObject({ ttlMs: 300_000, cacheScope: 'public' })
    })

    it('both from one address, and says the same in both', async () => {
      const asked = { name: 'query', arguments: { sql: 'SELECT 7 AS seven' } }
      const answers = [await classic('tools/call', asked), await current('tools/call', asked, { 'mcp-name': 'query' })]
      for (const { result } of answers) expect(Called.parse(result).structuredContent).toMatchObject({ rows: [[7]] })
    })

    it.each([
      ['a method that there is none of', 'tools/none', {}, {}, 404, -32_601],
      ['a header that differs from the message', 'tools/list', {}, { 'mcp-method': 'ping' }, 400, -32_020],
      [
        'a tool that there is none of',
        'tools/call',
        { name: 'none', arguments: {} },
        { 'mcp-name': 'none' },
        200,
        -32_602,
      ],
      ['a revision that there is none of', 'tools/list', {}, { 'mcp-protocol-version': '2031-01-01' }, 400, -32_020],
    ])('exactly of %s', async (_what, method, params, headers, status, code) => {
      expect(await current(method, params, headers)).toMatchObject({ status, error: { code } })
    })
  })

  describe('has tools', () => {
    it('that only read, say what they take and give, and fit into 12 kB', async () => {
      const { tools } = await client.listTools()
      expect(tools.map(({ name }) => name)).toEqual(names)
      for (const { title, description = '', annotations, inputSchema, outputSchema } of tools) {
        expect(title).toBeTruthy()
        expect(description.length).toBeLessThan(200)
        expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false })
        expect(inputSchema.properties).toHaveProperty('hostId')
        expect(outputSchema).toMatchObject({ type: 'object' })
      }
      expect(JSON.stringify((await classic('tools/list')).result).length).toBeLessThan(12_000)
    })

    it('whose answers are as their schemas say', async () => {
      const given: Record<string, object> = {
        query: { sql: 'SELECT 1, NULL, [1], toDecimal64(1, 2)' },
        list_tables: { database: 'cafe' },
        get_table_schema: { database: 'cafe', table: 'guests' },
        explore_table_schema: { database: 'cafe', table: 'visits' },
      }
      const ajv = new Ajv2020({ strict: false })
      for (const { name, outputSchema = {} } of (await client.listTools()).tools) {
        expect(ajv.validate(outputSchema, await facts(name, given[name])), `${name} ${ajv.errorsText()}`).toBe(true)
      }
    })

    it('query, which tells rows as the host has them', async () => {
      const told = await facts('query', { sql: 'SELECT id, name FROM cafe.guests ORDER BY id DESC LIMIT 2' })
      expect(told).toMatchObject({
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
    })

    it.each([
      ['SELECT number FROM numbers(20000)', {}, { reason: 'rows', limit: 10_000, returned: 10_000 }],
      ['SELECT number FROM numbers(20000)', { maxRows: 3 }, { reason: 'rows', limit: 3, returned: 3 }],
      ["SELECT repeat('x', 500000) FROM numbers(9)", {}, { reason: 'bytes', limit: 1_048_576, returned: 2 }],
    ])('query, which says in words and numbers that it cut %s', async (sql, more, truncated) => {
      const { content, structuredContent } = await call('query', { sql, ...more })
      expect(structuredContent).toMatchObject({ truncated })
      expect(content[0]?.text).toContain('there are more')
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
      expect(sentence).not.toContain(new URL(sandbox.url).host)
    })

    it('list_databases and list_tables, which count as the host counts', async () => {
      const databases = await askEngine(sandbox.url, 'SELECT name FROM system.databases ORDER BY name')
      const told = z
        .object({ databases: z.array(z.looseObject({ name: z.string() })) })
        .parse(await facts('list_databases'))
      expect(told.databases.map(({ name }) => name).toSorted()).toEqual(databases.map(({ name }) => name).toSorted())
      expect(await facts('list_tables', { database: 'cafe' })).toMatchObject({
        tables: [{ name: 'guests', engine: 'MergeTree', rows: 1234 }, { name: 'latest' }, { name: 'visits', rows: 0 }],
        truncated: false,
      })
      expect(await facts('list_tables', { database: 'cafe', limit: 1 })).toMatchObject({ truncated: true })
    })

    it('get_table_schema, and names near the one that there is not', async () => {
      expect(await facts('get_table_schema', { database: 'cafe', table: 'guests' })).toMatchObject({
        engine: 'MergeTree',
        sortingKey: 'id',
        rows: 1234,
        columns: [
          { name: 'id', type: 'UInt32' },
          { name: 'name', type: 'String', comment: 'as they say' },
        ],
      })
      expect(await failure('get_table_schema', { database: 'cafe', table: 'guest' })).toContain('guests')
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
      expect(await failure('explore_table_schema', { table: 'visits' })).toContain('needs a database')
    })

    it('get_metrics, with the version that the host has', async () => {
      const [version] = await askEngine(sandbox.url, 'SELECT version() AS version')
      expect(await facts('get_metrics')).toMatchObject({ version: version?.version, uptimeSeconds: expect.any(Number) })
    })

    it('get_running_queries, without the values in what runs', async () => {
      const ended = new AbortController()
      const running = fetch(sandbox.url, {
        method: 'POST',
        body: "SELECT count() FROM system.numbers WHERE toString(number) = 'secret value'",
        signal: ended.signal,
      }).catch(() => {})
      const told = await eventually(
        async () => JSON.stringify(await facts('get_running_queries')),
        (text) => text.includes('system.numbers'),
      )
      ended.abort()
      await running
      expect(told).not.toContain('secret value')
    })

    it('get_slow_queries, the slowest first and within the time that was asked', async () => {
      const Slow = z.object({ queries: z.array(z.looseObject({ durationMs: z.number(), endedMs: z.number() })) })
      const { queries } = Slow.parse(await facts('get_slow_queries', { lastHours: 1, limit: 5 }))
      const durations = queries.map(({ durationMs }) => durationMs)
      expect(durations).toEqual(durations.toSorted((one, other) => other - one))
      const [slowest] = await askEngine(
        sandbox.url,
        "SELECT max(query_duration_ms) AS ms FROM system.query_log WHERE type = 'QueryFinish' AND is_initial_query AND event_time >= now() - 3600",
      )
      expect(durations[0]).toBe(slowest?.ms)
    })

    it('analyze_performance, one snapshot whose severity is that of its worst finding', async () => {
      const Snapshot = z.object({
        severity: z.string(),
        findings: z.array(z.looseObject({ check: z.string(), severity: z.string(), value: z.number().nullable() })),
      })
      const { severity, findings } = Snapshot.parse(await facts('analyze_performance'))
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
      const [fullest] = await askEngine(
        sandbox.url,
        'SELECT max(parts) AS parts FROM (SELECT count() AS parts FROM system.parts WHERE active GROUP BY database, table, partition)',
      )
      expect(findings[1]?.value).toBe(fullest?.parts)
    })

    it('that answer for the host that was asked for and never for another', async () => {
      expect(await failure('query', { sql: 'SELECT 1', hostId: 7 })).toContain('there are 0 (one), 1 (silent)')
      expect(await failure('query', { sql: 'SELECT 1', hostId: 1 })).toContain('silent')
      for (const hostId of ['0', -1, 0.5, null]) expect(await failure('get_metrics', { hostId })).toContain('hostId')
      expect(await failure('get_metrics', { hostid: 1 })).toContain('hostid')
    })
  })

  describe('has resources', () => {
    const read = async (uri: string) => {
      const [found] = (await client.readResource({ uri })).contents
      return found && 'text' in found ? found.text : ''
    }
    const schemaOf = (database: string, table: string) => `databases/${database}/tables/${table}/schema`

    it('at the addresses that were promised', async () => {
      const { resources } = await client.listResources()
      expect(resources.map(({ uri }) => uri).toSorted()).toEqual([
        'columndb://databases',
        'columndb://query-examples',
        'columndb://system-tables',
      ])
      const { resourceTemplates } = await client.listResourceTemplates()
      const paths = ['tables', 'tables/{table}/schema', 'tables/{table}/parts'].map(
        (path) => `databases/{database}/${path}`,
      )
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).toSorted()).toEqual(
        [
          ...paths.map((path) => `columndb://${path}`),
          ...['databases', ...paths].map((path) => `columndb://hosts/{hostId}/${path}`),
        ].toSorted(),
      )
    })

    it('that tell what the host says, the first one where none is named', async () => {
      expect(await read('columndb://system-tables')).toContain('system.query_log')
      expect(JSON.parse(await read('columndb://databases'))).toMatchObject({
        rows: expect.arrayContaining([expect.objectContaining({ name: 'cafe' })]),
      })
      for (const host of ['', 'hosts/0/']) {
        const schema: unknown = JSON.parse(await read(`columndb://${host}${schemaOf('cafe', 'guests')}`))
        expect(schema).toMatchObject({ sortingKey: 'id', columns: [{ name: 'id' }, { name: 'name' }] })
      }
      const parts = await read('columndb://databases/cafe/tables/guests/parts')
      expect(JSON.parse(parts)).toMatchObject({ rows: [{ rows: 1234 }] })
    })

    it('whose names may have any characters', async () => {
      await askEngine(sandbox.url, 'CREATE TABLE cafe.`a/b ü` (x UInt8) ENGINE = Memory')
      const schema: unknown = JSON.parse(await read(`columndb://${schemaOf('cafe', encodeURIComponent('a/b ü'))}`))
      expect(schema).toMatchObject({ columns: [{ name: 'x' }] })
      await askEngine(sandbox.url, 'DROP TABLE cafe.`a/b ü`')
    })

    it.each([
      ['columndb://hosts/9/databases', 'no such host'],
      ['columndb://hosts/-1/databases', 'hostId must be'],
      ['columndb://hosts/0x0/databases', 'hostId must be'],
      [`columndb://${schemaOf('cafe', 'guest')}`, 'guests'],
      ['columndb://nothing', 'columndb://nothing'],
    ])('and says of %s why there is none', async (uri, reason) => {
      const { status, error } = await current('resources/read', { uri }, { 'mcp-name': uri })
      expect({ status, code: error?.code }).toEqual({ status: 200, code: -32_602 })
      expect(error?.message).toContain(reason)
      expect(error?.data).toMatchObject({ uri })
    })

    it('whose names can be completed', async () => {
      const complete = async (name: string, value: string, known: Record<string, string> = {}) => {
        const ref = { type: 'ref/resource' as const, uri: 'columndb://databases/{database}/tables/{table}/schema' }
        const { completion } = await client.complete({ ref, argument: { name, value }, context: { arguments: known } })
        return completion.values
      }
      expect(await complete('database', 'caf')).toEqual(['cafe'])
      expect(await complete('table', 'v', { database: 'cafe' })).toEqual(['visits'])
      expect(await complete('table', 'v', { database: 'none' })).toEqual([])
    })
  })

  describe('has prompts', () => {
    it('by the names that were promised', async () => {
      const { prompts } = await client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual([
        'health-check',
        'slow-query-analysis',
        'storage-audit',
        'replication-check',
        'capacity-report',
      ])
      for (const { name } of prompts) {
        const { messages } = await client.getPrompt({ name, arguments: { hostId: '1' } })
        expect(JSON.stringify(messages)).toContain('hostId 1')
      }
    })

    it('that say what is wrong with their arguments', async () => {
      const asked = { name: 'slow-query-analysis', arguments: { hours: 'all' } }
      const { error } = await current('prompts/get', asked, { 'mcp-name': asked.name })
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('from 1 to 720') })
    })
  })

  it('ends a statement on the host when its client leaves', async () => {
    const statement = 'SELECT sum(cityHash64(number)) FROM system.numbers'
    const running = async () => {
      const [row] = await askEngine(
        sandbox.url,
        "SELECT count() AS n FROM system.processes WHERE query LIKE '%cityHash64(number)) FROM system.num%' AND query_id != queryID()",
      )
      return row?.n
    }
    const left = new AbortController()
    const asked = client.callTool({ name: 'query', arguments: { sql: statement } }, undefined, { signal: left.signal })
    asked.catch(() => {})
    await eventually(running, (count) => count === 1)
    left.abort()
    await client.close()
    expect(await eventually(running, (count) => count === 0)).toBe(0)
  })
})
