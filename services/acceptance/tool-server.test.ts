import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { AuditResponse } from '#proto/http/audit.ts'
import { ServerCard } from '#proto/http/mcp.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import { statelessRevision, startToolServer, type ToolServer } from '../testing/tool-server.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const startLimitMs = 180_000
const Called = z.looseObject({ structuredContent: z.looseObject({}) })
const Skills = z.looseObject({
  skills: z.array(
    z.looseObject({ uri: z.string(), resources: z.array(z.looseObject({ uri: z.string(), digest: z.string() })) }),
  ),
})

describeOnTopologies('the tool server', (topology) => {
  let server: ToolServer
  beforeAll(async () => {
    server = await startToolServer(topology)
  }, startLimitMs)
  afterAll(() => server?.[Symbol.asyncDispose]())

  const ofFirst = 'columndb://databases/{database}/tables/{table}/schema'
  const ofAny = 'columndb://hosts/{hostId}/databases/{database}/tables/{table}/schema'
  const completion = async (uri: string, name: string, value: string, known: Record<string, string> = {}) => {
    const ref = { type: 'ref/resource' as const, uri }
    const request = { ref, argument: { name, value }, context: { arguments: known } }
    return (await server.client.complete(request)).completion
  }
  const completed = async (...request: Parameters<typeof completion>) => (await completion(...request)).values

  describe('speaks', () => {
    it('the session-based revisions, with and without a handshake', async () => {
      expect(server.client.getServerVersion()).toMatchObject({ name: 'watchhouse' })
      const shaken = await server.classic('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'curl', version: '8' },
      })
      expect(shaken.result).toMatchObject({
        protocolVersion: '2025-06-18',
        capabilities: { tools: { listChanged: false } },
      })
      expect((await server.classic('ping')).result).toEqual({})
    })

    it('JSON-RPC 2.0, under the id of the request', async () => {
      const post = (message: object) =>
        fetchJson(`${server.url}/api/mcp`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(message),
        })
      expect((await post({ jsonrpc: '2.0', id: 42, method: 'ping' })).body).toEqual({
        jsonrpc: '2.0',
        id: 42,
        result: {},
      })
      const older = await post({ jsonrpc: '1.0', id: 43, method: 'ping' })
      expect(older).toMatchObject({ status: 400, body: { jsonrpc: '2.0', error: { code: expect.any(Number) } } })
    })

    it('the current revision, whose lists have a cache lifetime', async () => {
      const { result } = await server.current('server/discover')
      expect(result).toMatchObject({
        resultType: 'complete',
        supportedVersions: [statelessRevision],
        ttlMs: 3_600_000,
        cacheScope: 'public',
      })
      expect((await server.current('tools/list')).result).toMatchObject({ ttlMs: 300_000, cacheScope: 'public' })
    })

    it('both on one address, with the same results', async () => {
      const request = { name: 'query', arguments: { sql: 'SELECT 7 AS seven', structured: true } }
      const answers = [
        await server.classic('tools/call', request),
        await server.current('tools/call', request, { 'mcp-name': 'query' }),
      ]
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
      ['a cursor that none of its lists gave', 'tools/list', { cursor: 'MTA' }, {}, 200, -32_602],
      ['parameters of another type', 'prompts/get', { name: 5 }, {}, 200, -32_602],
      ['parameters that are missing', 'resources/read', {}, {}, 200, -32_602],
      ['a reference to nothing that can be completed', 'completion/complete', { ref: { type: 'x' } }, {}, 200, -32_602],
      ['a revision that there is none of', 'tools/list', {}, { 'mcp-protocol-version': '2031-01-01' }, 400, -32_020],
    ])('exactly of %s', async (_what, method, params, headers, status, code) => {
      expect(await server.current(method, params, headers)).toMatchObject({ status, error: { code } })
    })

    it('the current protocol to clients with wrong headers', async () => {
      const { status, error } = await server.classic('server/discover')
      expect(status).toBe(400)
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('protocolVersion') })
    })

    it.each([
      ['initialize', {}, 'Invalid params: params.protocolVersion: Invalid input: expected string'],
      ['resources/read', { uri: 1 }, 'Invalid params: params.uri: Invalid input: expected string, received number'],
      ['tools/call', { name: 'query', arguments: [] }, 'Invalid params: params.arguments: Invalid input'],
      ['tools/list', { cursor: '' }, 'Invalid params: cursor is not supported'],
    ])('in words of what is wrong with the parameters of %s', async (method, params, message) => {
      const { error } = await server.classic(method, params)
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining(message) })
      expect(error?.message).not.toContain('{')
    })
  })

  it('has an accurate server card', async () => {
    const { tools } = await server.client.listTools()
    const info = (await fetchJson(`${server.url}/api/v1/mcp/info`)).body
    expect(info).toMatchObject({
      data: { status: 'connected', toolCount: tools.length, resourceCount: 10, promptCount: 5 },
    })
    const described = await fetchJson(`${server.url}/.well-known/mcp/server-card.json`)
    // Without a configured public address, the card repeats the address of the request and must not be cached.
    expect(described.headers.get('cache-control')).toBe('no-store')
    const card = ServerCard.parse(described.body)
    expect(card.$schema).toContain('server-card.schema.json')
    expect(card).toMatchObject({ serverInfo: server.client.getServerVersion(), authentication: { required: false } })
    const [remote] = card.remotes
    for (const protocolVersion of remote?.supportedProtocolVersions ?? []) {
      const hello = { protocolVersion, capabilities: {}, clientInfo: { name: 'curl', version: '8' } }
      const { result } = await (protocolVersion === statelessRevision
        ? server.current('server/discover')
        : server.classic('initialize', hello))
      expect([result?.protocolVersion, ...[result?.supportedVersions].flat()]).toContain(protocolVersion)
    }
  })

  it('records caller and tool in the audit log, without arguments', async () => {
    await server.call('query', { sql: "SELECT 'a secret'" })
    await server.call('query', { sql: 'DROP TABLE `a secret`' })
    const { data } = await retryUntil(
      async () => AuditResponse.parse((await fetchJson(`${server.url}/api/v1/audit?limit=100`)).body),
      (answer) => ['done', 'refused'].every((result) => answer.data.some((record) => record.result === result)),
    )
    const called = { actor: { kind: 'anonymous' }, action: 'call-tool', host: 'one', target: { tool: 'query' } }
    for (const wanted of ['done', 'refused']) {
      const found = data.find(({ result }) => result === wanted)
      expect(found).toMatchObject(called)
      expect(found?.tookMs).toBeGreaterThan(0)
    }
    expect(JSON.stringify(data)).not.toContain('a secret')
  })

  it('has the skills of the agent, each file with its listed digest', async () => {
    const { result } = await server.current('server/discover')
    expect(result).toMatchObject({ capabilities: { extensions: { 'io.modelcontextprotocol/skills': {} } } })
    const { skills } = Skills.parse((await server.current('skills/list')).result)
    expect(skills).toHaveLength(18)
    for (const { uri, resources } of skills) {
      const got = (await server.current('skills/get', { uri })).result
      expect(got).toMatchObject({ skill: { uri } })
      const [file] = (await server.client.readResource({ uri })).contents
      const text = file && 'text' in file ? file.text : ''
      const digest = `sha256:${hash('sha256', text)}`
      expect(resources).toMatchObject([{ uri, digest }])
    }
    const none = await server.current('skills/get', { uri: 'skill://none/SKILL.md' })
    expect(none.error).toMatchObject({ code: -32_602 })
  })

  describe('has resources', () => {
    const read = async (uri: string) => {
      const [found] = (await server.client.readResource({ uri })).contents
      return found && 'text' in found ? found.text : ''
    }
    const schemaOf = (database: string, table: string) => `databases/${database}/tables/${table}/schema`

    it('at the specified addresses', async () => {
      const { resources } = await server.client.listResources()
      expect(resources.map(({ uri }) => uri).toSorted()).toEqual([
        'columndb://databases',
        'columndb://query-examples',
        'columndb://system-tables',
      ])
      const { resourceTemplates } = await server.client.listResourceTemplates()
      const paths = ['tables', 'tables/{table}/schema', 'tables/{table}/parts'].map(
        (path) => `databases/{database}/${path}`,
      )
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate).toSorted()).toEqual(
        [
          ...paths.map((path) => `columndb://${path}`),
          ...['databases', ...paths].map((path) => `columndb://hosts/{hostId}/${path}`),
          'skill://{+path}',
        ].toSorted(),
      )
    })

    it('that return data of a host, by default the first', async () => {
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

    it.each([
      ['columndb://query-examples', 'FROM system.parts WHERE active'],
      ['columndb://hosts/0/databases', '"name":"cafe"'],
      ['columndb://databases/cafe/tables', '"name":"visits"'],
      ['columndb://hosts/0/databases/cafe/tables', '"name":"visits"'],
      ['columndb://hosts/0/databases/cafe/tables/guests/parts', '"rows":1234'],
    ])('where %s contains %s', async (uri, part) => {
      expect(await read(uri)).toContain(part)
    })

    it('that fail for an unreachable host only if they name it', async () => {
      const databases = (host: string) =>
        server.current('resources/read', { uri: `columndb://${host}databases` }, named)
      const named = { 'mcp-name': 'columndb://hosts/1/databases' }
      expect(await databases('hosts/1/')).toMatchObject({ error: { message: expect.stringContaining('silent') } })
      expect(await read('columndb://databases')).toContain('cafe')
    })

    it('whose names may have any characters', async () => {
      await queryClickHouse(server.hostUrl, 'CREATE TABLE cafe.`a/b ü` (x UInt8) ENGINE = Memory')
      const schema: unknown = JSON.parse(await read(`columndb://${schemaOf('cafe', encodeURIComponent('a/b ü'))}`))
      expect(schema).toMatchObject({ columns: [{ name: 'x' }] })
      await queryClickHouse(server.hostUrl, 'DROP TABLE cafe.`a/b ü`')
    })

    it.each([
      ['columndb://hosts/9/databases', 'unknown host'],
      ['columndb://hosts/-1/databases', 'hostId must be'],
      ['columndb://hosts/0x0/databases', 'hostId must be'],
      [`columndb://${schemaOf('cafe', 'guest')}`, 'guests'],
      ['columndb://nothing', 'columndb://nothing'],
    ])('and reports why %s is missing', async (uri, reason) => {
      const { status, error } = await server.current('resources/read', { uri }, { 'mcp-name': uri })
      expect({ status, code: error?.code }).toEqual({ status: 200, code: -32_602 })
      expect(error?.message).toContain(reason)
      expect(error?.data).toMatchObject({ uri })
    })

    it('whose names can be completed', async () => {
      expect(await completed(ofFirst, 'database', 'caf')).toEqual(['cafe'])
      expect(await completed(ofFirst, 'table', 'v', { database: 'cafe' })).toEqual(['visits'])
      expect(await completed(ofFirst, 'table', 'v', { database: 'none' })).toEqual([])
      for (const name of ['column', 'constructor']) expect(await completed(ofFirst, name, 'v')).toEqual([])
    })

    it('whose names are completed for the selected host only', async () => {
      expect(await completed(ofAny, 'hostId', '')).toEqual(['0', '1'])
      expect(await completed(ofAny, 'database', 'caf', { hostId: '0' })).toEqual(['cafe'])
      expect(await completed(ofAny, 'database', 'caf')).toEqual([])
      for (const hostId of ['', '1', '00', 'one']) {
        expect(await completed(ofAny, 'database', 'caf', { hostId })).toEqual([])
      }
    })

    it('whose completion returns the total if the list is truncated', async () => {
      const { values, total, hasMore } = await completion(ofFirst, 'table', '', { database: 'system' })
      expect([values.length, hasMore]).toEqual([100, true])
      const tables = "SELECT toUInt32(count()) AS total FROM system.tables WHERE database = 'system'"
      expect(await queryClickHouse(server.hostUrl, tables)).toEqual([{ total }])
    })
  })

  describe('has prompts', () => {
    it('with the specified names', async () => {
      const { prompts } = await server.client.listPrompts()
      expect(prompts.map(({ name }) => name)).toEqual([
        'health-check',
        'slow-query-analysis',
        'storage-audit',
        'replication-check',
        'capacity-report',
      ])
      for (const { name } of prompts) {
        const { messages } = await server.client.getPrompt({ name, arguments: { hostId: '1' } })
        expect(JSON.stringify(messages)).toContain('hostId 1')
      }
    })

    it('that explain invalid arguments', async () => {
      const request = { name: 'slow-query-analysis', arguments: { hours: 'all' } }
      const { error } = await server.current('prompts/get', request, { 'mcp-name': request.name })
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining('from 1 to 720') })
    })
  })

  describe('has tools for all hosts', () => {
    const facts = async (name: string, given: object = {}) => {
      const { isError, content, structuredContent } = await server.call(name, { ...given, structured: true })
      expect(isError, content[0]?.text).toBe(false)
      return structuredContent
    }
    const failure = async (name: string, given: object) => {
      const { isError, content } = await server.call(name, given)
      expect(isError).toBe(true)
      return content[0]?.text
    }

    it('list_hosts and get_fleet_health, which show all hosts and say which is down', async () => {
      const hosts = await retryUntil(
        async () => JSON.stringify(await facts('list_hosts')),
        (text) => text.includes('"down"'),
      )
      expect(JSON.parse(hosts)).toMatchObject({
        hosts: [
          { hostId: 0, name: 'one', status: 'up', version: expect.any(String) },
          { hostId: 1, name: 'silent', status: 'down', reason: 'unreachable', version: null },
        ],
      })
      expect(await facts('list_hosts', { search: 'SIL' })).toMatchObject({ hosts: [{ hostId: 1 }] })
      expect(await facts('get_fleet_health')).toMatchObject({
        hosts: [
          { hostId: 1, status: 'down' },
          { hostId: 0, status: 'up', queries: expect.any(Number), diskPercent: expect.any(Number) },
        ],
        unavailable: [],
      })
      const { content } = await server.call('get_fleet_health', { hostId: 1 })
      expect(content[0]?.text).toMatch(/^1 host: 1 down: silent\.\nhostId\tname\tstatus/)
      expect(await failure('get_fleet_health', { hostId: 7 })).toContain('available: 0 (one), 1 (silent)')
    })

    it('get_alerts and diagnose, which explain what fires', async () => {
      const alerts = await retryUntil(
        async () => {
          // A sweep that started with the product may still run, which the request reports as a conflict.
          await server.sweep().catch(() => undefined)
          return JSON.stringify(await facts('get_alerts'))
        },
        (text) => text.includes('host-unreachable'),
      )
      const silent = { hostId: 1, host: 'silent', ruleId: 'host-unreachable', phase: 'firing' }
      expect(JSON.parse(alerts).alerts).toContainEqual(expect.objectContaining(silent))
      expect(await facts('get_alerts', { hostId: 0 })).toMatchObject({ sweptAt: expect.stringMatching(/Z$/) })
      expect(await facts('diagnose', { hostId: 1 })).toMatchObject({
        diagnoses: [{ ruleId: 'host-unreachable', runbook: expect.stringMatching(/./) }],
      })
      expect(await facts('diagnose', { ruleId: 'parts-pressure' })).toMatchObject({
        diagnoses: [{ ruleId: 'parts-pressure', columns: expect.arrayContaining(['table']), unavailable: null }],
      })
      expect(await failure('diagnose', { ruleId: 'parts-presure' })).toContain('parts-pressure')
    })

    it('get_changes, with changes of the schema, newest first', async () => {
      await queryClickHouse(server.hostUrl, 'CREATE TABLE cafe.changed (x UInt8) ENGINE = Memory')
      await queryClickHouse(server.hostUrl, 'DROP TABLE cafe.changed')
      await queryClickHouse(server.hostUrl, 'SYSTEM FLUSH LOGS query_log')
      const request = { hostId: 0, search: 'cafe.changed', kind: 'schema' }
      const changes = await retryUntil(
        async () => JSON.stringify(await facts('get_changes', request)),
        (text) => text.includes('DROP TABLE') && text.includes('CREATE TABLE'),
      )
      expect(JSON.parse(changes).changes).toMatchObject([
        { kind: 'schema', what: expect.stringContaining('DROP TABLE') },
        { kind: 'schema', what: expect.stringContaining('CREATE TABLE') },
      ])
    })
  })

  it('cancels a statement on the host when its client disconnects', async () => {
    const statement = 'SELECT sum(cityHash64(number)) FROM system.numbers'
    const running = async () => {
      const [row] = await queryClickHouse(
        server.hostUrl,
        "SELECT count() AS n FROM system.processes WHERE query LIKE '%cityHash64(number)) FROM system.num%' AND query_id != queryID()",
      )
      return row?.n
    }
    const left = new AbortController()
    const request = server.client.callTool({ name: 'query', arguments: { sql: statement } }, undefined, {
      signal: left.signal,
    })
    request.catch(() => {})
    await retryUntil(running, (count) => count === 1)
    left.abort()
    await server.client.close()
    expect(await retryUntil(running, (count) => count === 0)).toBe(0)
  })
})
