import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { parseChunkStream, findLastData, filterChunksByType } from '../agent/testing/start-agent.ts'
import { countResponses } from '../agent/testing/model-script.ts'
import {
  createGatewayVariables,
  type ScriptedGateway,
  startScriptedGateway,
} from '../agent/testing/scripted-gateway.ts'
import { agentTools } from '../agent/tools/index.ts'
import { startSandbox } from '../sandbox/start.ts'
import { recentFailureStatements, slowStatementPrefix, exampleDataStatements } from '../testing/agent-tools.ts'
import { fetchJson, queryClickHouse } from '../testing/fetch-json.ts'
import { startReplicationService } from '../query/testing/replication-service.ts'
import { replicationToolCases } from '../testing/replication-tool-cases.ts'
import { startFakeTablesHost } from '../testing/fake-tables.ts'
import { startProduct } from '../testing/product.ts'
import { startPostgres } from '../testing/describe-with.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const Output = z.object({
  output: z.object({ text: z.string(), result: z.looseObject({}), evidence: z.array(z.string()) }),
})
const Page = z.looseObject({ rows: z.array(z.record(z.string(), z.unknown())) })
const Failure = z.object({ errorText: z.string() })
const startLimitMs = 180_000

describeOnTopologies('the tools of the agent', (topology) => {
  let gateway: ScriptedGateway
  let hostUrl: string
  let otherUrl: string
  let url: string
  // Only the topologies with several processes have a PostgreSQL server.
  const hasSource = topology !== 'memory'
  const scope = new AsyncDisposableStack()
  beforeAll(async () => {
    const [sandbox, other] = await Promise.all([startSandbox({ label: 'one' }), startSandbox({ label: 'two' })])
    scope.use(sandbox)
    scope.use(other)
    hostUrl = sandbox.url
    otherUrl = other.url
    for (const statement of exampleDataStatements) await queryClickHouse(hostUrl, statement)
    for (const amount of [1, 2, 3]) await fails(`SELECT nothing_17 FROM shop.orders WHERE amount > ${amount}`)
    await queryClickHouse(hostUrl, 'SYSTEM FLUSH LOGS query_log')
    const inventing = scope.use(await startFakeTablesHost(hostUrl, ['replicas', 'replication_queue']))
    gateway = scope.use(await startScriptedGateway({ script: [{ say: [{ text: 'yes' }] }] }))
    const source: Record<string, string> = hasSource
      ? { SVC_POSTGRES_SOURCE_URL: scope.use(await startPostgres()).url }
      : {}
    const replication = scope.use(await startReplicationService())
    const repldb = { REPLDB_API_URL: replication.url, SVC_FEATURE_REPLDB_AGENT: 'true' }
    const env = { ...createGatewayVariables(gateway), RATE_LIMIT_AGENT_PER_MIN: '100000', ...source, ...repldb }
    const hosts = [
      { url: inventing.url, name: 'one' },
      { url: otherUrl, name: 'two' },
    ]
    ;({ url } = scope.use(await startProduct({ topology, toolServer: true, agent: true, hosts, env })))
  }, startLimitMs)
  afterAll(() => scope.disposeAsync())

  /** Runs a statement that must fail, as the user `reports`. */
  const fails = async (sql: string): Promise<void> => {
    const { ok } = await fetch(`${hostUrl}/?user=reports&password=reports`, { method: 'POST', body: sql })
    expect(ok).toBe(false)
  }
  const call = async (name: string, given: object) => {
    gateway.play((request) =>
      countResponses(request) === 0 ? { say: [{ call: name, with: { ...given } }] } : { say: [{ text: 'done' }] },
    )
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ message: 'Please' })
    return parseChunkStream(await (await fetch(`${url}/api/v1/agent`, { method: 'POST', headers, body })).text())
  }
  /** Calls a tool and returns its result. Also checks that the result has evidence. */
  const facts = async (name: string, given: object = {}) => {
    const chunks = await call(name, given)
    expect(filterChunksByType(chunks, 'tool-output-error')).toEqual([])
    const { text, result, evidence } = Output.parse(filterChunksByType(chunks, 'tool-output-available')[0]).output
    expect(evidence.length).toBeGreaterThan(0)
    return { text, ...result }
  }
  const failure = async (name: string, given: object) => {
    const [failed] = [...filterChunksByType(await call(name, given), 'tool-output-error')]
    return Failure.parse(failed).errorText
  }
  it.each(agentTools.filter(({ example }) => example))('$name answers a call with its example', async (tool) => {
    await facts(tool.name, tool.example)
  })

  const one = async (sql: string, of = hostUrl) => (await queryClickHouse(of, sql))[0]

  it('get_failed_queries returns failures by user and error', async () => {
    const failed = "type LIKE 'Exception%' AND user = 'reports' AND event_time > now() - INTERVAL 24 HOUR"
    const counted = await one(`SELECT count() AS total FROM system.query_log WHERE ${failed} AND is_initial_query`)
    expect(await facts('get_failed_queries', { user: 'reports' })).toMatchObject({
      ...counted,
      failures: expect.arrayContaining([
        expect.objectContaining({
          user: 'reports',
          code: 47,
          error: 'UNKNOWN_IDENTIFIER',
          failures: 3,
          statement: 'SELECT `nothing_17` FROM `shop`.`orders` WHERE `amount` > ?'.replaceAll('`', ''),
        }),
      ]),
    })
    expect(await facts('get_failed_queries', { user: 'unknown' })).toMatchObject({ total: 0, failures: [] })
  })

  it('list_slow_query_patterns returns patterns with their statistics', async () => {
    const hash = await one(`SELECT toString(normalizedQueryHash('${slowStatementPrefix}1')) AS hash`)
    expect(await facts('list_slow_query_patterns', { search: 'peculiar', lastHours: 1 })).toMatchObject({
      total: 1,
      patterns: [{ ...hash, calls: 4, errors: 0, kind: 'Select', tables: ['shop.orders'] }],
    })
  })

  it('explain_query returns the plan of the host', async () => {
    const sql = 'SELECT n FROM crumbs.wide WHERE n < 100'
    const plan = await queryClickHouse(hostUrl, `EXPLAIN PLAN indexes = 1 ${sql}`)
    const result = plan.map(({ explain }) => String(explain)).join('\n')
    const { lines } = z.object({ lines: z.array(z.string()) }).parse(await facts('explain_query', { sql }))
    for (const fact of ['ReadFromMergeTree (crumbs.wide)', 'Granules: 1/12', 'PrimaryKey']) {
      expect(result).toContain(fact)
      expect(lines.join('\n')).toContain(fact)
    }
    expect(await failure('explain_query', { sql: 'DROP TABLE crumbs.wide' })).toContain('invalid')
  })

  it('estimate_query_cost returns estimated reads by table, and the total', async () => {
    const sql = 'SELECT n FROM crumbs.wide WHERE n < 100'
    const estimate = await one(`EXPLAIN ESTIMATE ${sql}`)
    const whole = await one(
      "SELECT sum(marks) AS ofMarks, sum(rows) AS ofRows, count() AS ofParts FROM system.parts WHERE active AND table = 'wide'",
    )
    expect(await facts('estimate_query_cost', { sql })).toMatchObject({
      rows: 8_192,
      tables: [{ ...estimate, ...whole, ofRows: 100_000 }],
    })
  })

  it('get_table_parts returns partitions, most parts first', async () => {
    const limit = await one(
      "SELECT toUInt64(value) AS limit FROM system.merge_tree_settings WHERE name = 'parts_to_throw_insert'",
    )
    const odd = { database: 'crumbs', table: 'odd `name' }
    expect(await facts('get_table_parts', odd)).toMatchObject({
      partitions: [{ ...odd, partition: 'tuple()', parts: 3, rows: 3_000, unmerged: 3, ...limit }],
    })
    const [fullest] = await queryClickHouse(
      hostUrl,
      'SELECT count() AS parts FROM system.parts WHERE active GROUP BY database, table, partition ORDER BY parts DESC LIMIT 1',
    )
    expect(fullest).toEqual({ parts: 60 })
    expect(await facts('get_table_parts', { limit: 1 })).toMatchObject({ partitions: [{ table: 'many', ...fullest }] })
  })

  it('estimate_mutation_impact returns what a mutation would rewrite', async () => {
    const table = { database: 'crumbs', table: 'odd `name' }
    const part = await one(
      "SELECT bytes_on_disk AS bytesInParts FROM system.parts WHERE active AND name = (SELECT any(_part) FROM crumbs.`odd ``name` WHERE p = 1) AND table = 'odd `name'",
    )
    expect(await facts('estimate_mutation_impact', { ...table, condition: 'p = 1 AND n < 10' })).toMatchObject({
      impact: {
        matchingRows: 10,
        parts: 1,
        rowsInParts: 1_000,
        ofParts: 3,
        ofRows: 3_000,
        unfinishedMutations: 0,
        ...part,
      },
    })
    const stuck = { database: 'archive', table: 'imports', condition: '0' }
    expect(await facts('estimate_mutation_impact', stuck)).toMatchObject({
      impact: { matchingRows: 0, parts: 0, bytesInParts: 0, unfinishedMutations: 1 },
    })
    expect(await failure('estimate_mutation_impact', { ...table, table: 'wid', condition: '1' })).toContain('wide')
  })

  it('get_disk_usage returns disks and their contents', async () => {
    const disk = await one('SELECT name AS disk, total_space AS totalBytes FROM system.disks')
    const table = await one(
      "SELECT sum(bytes_on_disk) AS bytes, sum(rows) AS rows FROM system.parts WHERE active AND database = 'shop' AND table = 'customers'",
    )
    expect(await facts('get_disk_usage', { limit: 100 })).toMatchObject({
      disks: [disk],
      tables: expect.arrayContaining([expect.objectContaining({ database: 'shop', table: 'customers', ...table })]),
    })
  })

  it('get_replication_status returns replicas, unhealthy ones first, with the reason', async () => {
    expect(await facts('get_replication_status')).toMatchObject({
      replicas: [
        { table: 'lost', isReadonly: true, isSessionExpired: true, exception: 'Session expired' },
        { table: 'late', delaySeconds: 400, queueSize: 50 },
        { table: 'well', isReadonly: false },
      ],
      failing: [{ table: 'late', type: 'GET_PART', tries: 7, exception: 'No active replica has part all_1_1_0' }],
    })
  })

  it('compare_hosts returns key metrics, patterns and settings of each host', async () => {
    const [one_, two] = await Promise.all([hostUrl, otherUrl].map((of) => one('SELECT version() AS version', of)))
    const sums =
      "SELECT toString(normalized_query_hash) AS hash, toFloat64(sum(query_duration_ms)) AS ms FROM system.query_log WHERE type != 'QueryStart' AND http_user_agent != 'watchhouse' AND event_time > now() - INTERVAL 24 HOUR GROUP BY hash"
    const Sums = z.array(z.object({ hash: z.string(), ms: z.number() }))
    const msByHash = async (of: string) =>
      new Map(Sums.parse(await queryClickHouse(of, sums)).map(({ hash, ms }) => [hash, ms]))
    const both = await Promise.all([hostUrl, otherUrl].map(msByHash))
    const spread = (hash: string) => {
      const times = both.map((known) => known.get(hash) ?? 0)
      return Math.max(...times) - Math.min(...times)
    }
    const [hash = ''] = both
      .flatMap((known) => [...known.keys()])
      .toSorted((left, right) => spread(right) - spread(left))
    const values = both.map((known) => (known.has(hash) ? expect.anything() : null))
    const result = await facts('compare_hosts', { hostIds: [0, 1], settings: true, limit: 5 })
    expect(result).toMatchObject({
      hosts: [
        { name: 'one', status: one_ },
        { name: 'two', status: two },
      ],
      patterns: expect.arrayContaining([expect.objectContaining({ hash, values })]),
      settings: expect.any(Array),
    })
    expect(await failure('compare_hosts', { hostIds: [0, 7] })).toContain('available: 0 (one), 1 (two)')
  })

  it('find_reference_query finds statements that run', async () => {
    const found = await facts('find_reference_query', { topic: 'mutations that are stuck', limit: 5 })
    const { references } = z
      .object({
        references: z.array(
          z.object({ name: z.string(), sql: z.string(), parameters: z.record(z.string(), z.unknown()) }),
        ),
      })
      .parse(found)
    expect(references.map(({ name }) => name)).toContain('summary-stuck-mutations')
    for (const { sql, parameters } of references) {
      const bound = Object.entries(parameters).map(([name, value]): [string, string] => [
        `param_${name}`,
        String(value),
      ])
      const response = await fetch(`${hostUrl}/?${new URLSearchParams(bound)}`, { method: 'POST', body: sql })
      expect(response.status, sql).toBe(200)
    }
  })

  it('get_page_data reads tables and charts, without query text of users', async () => {
    const page = Page.parse(await facts('get_page_data', { name: 'failed-queries', search: 'nothing_17' }))
    expect(page).toMatchObject({ leftOut: ['query'], rows: [{ exception_code: 47 }, { user: 'reports' }, {}] })
    expect(page.rows).toHaveLength(3)
    expect(JSON.stringify(page.rows)).not.toContain('"query"')
    const databases = await one(
      "SELECT countIf(name NOT IN ('INFORMATION_SCHEMA', 'information_schema', 'system')) AS count FROM system.databases",
    )
    const chart = Page.parse(await facts('get_page_data', { name: 'database-count' }))
    expect(Object.values(chart.rows[0] ?? {})).toContain(databases?.count)
    expect(await failure('get_page_data', { name: 'failed-querys' })).toContain('failed-queries')
  })

  it('query_and_visualize shows a chart to the user', async () => {
    const given = {
      title: 'By status',
      sql: 'SELECT status, count() AS orders FROM shop.orders GROUP BY status ORDER BY status',
      kind: 'bar',
      x: 'status',
    }
    const chunks = await call('query_and_visualize', given)
    const rows = await queryClickHouse(hostUrl, given.sql)
    expect(findLastData(chunks, 'data-chart')).toMatchObject({
      title: 'By status',
      hostKey: 'one',
      x: 'status',
      y: ['orders'],
      rows: rows.map((row) => Object.values(row)),
    })
    expect(await failure('query_and_visualize', { ...given, y: ['order'] })).toContain('did you mean "orders"?')
  })

  it('forecast_disk_capacity returns the forecast of each disk', async () => {
    const disk = await one("SELECT name AS subject, total_space AS limit FROM system.disks WHERE name = 'default'")
    expect(await facts('forecast_disk_capacity')).toMatchObject({
      forecasts: expect.arrayContaining([expect.objectContaining({ what: 'disk', ...disk })]),
    })
  })

  it('explain_anomaly_score returns anomalies with their statements', async () => {
    for (const statement of recentFailureStatements) await queryClickHouse(otherUrl, statement)
    expect(await facts('explain_anomaly_score', { hostId: 1, kind: 'error-rate' })).toMatchObject({
      anomalies: [{ kind: 'error-rate', severity: expect.any(String), sql: expect.stringContaining('SELECT') }],
    })
    expect(await facts('explain_anomaly_score', { kind: 'no-such-kind' })).toMatchObject({ anomalies: [] })
  })

  it('get_schema_advice returns better column types, with the confidence', async () => {
    const result = await facts('get_schema_advice', { database: 'crumbs', table: 'loose' })
    expect(result).toMatchObject({
      recommendations: expect.arrayContaining([
        expect.objectContaining({ kind: 'nullable', proof: expect.stringMatching(/^(un)?verified$|^estimated$/) }),
      ]),
    })
    expect(await failure('get_schema_advice', { database: 'crumbs', table: 'loos' })).toContain('loose')
  })

  it('get_tuning_suggestions returns settings and upgrades', async () => {
    const { recommendations } = z
      .object({ recommendations: z.array(z.object({ kind: z.enum(['setting', 'upgrade']), rationale: z.string() })) })
      .parse(await facts('get_tuning_suggestions'))
    const [limit] = await queryClickHouse(hostUrl, "SELECT value FROM system.settings WHERE name = 'max_memory_usage'")
    const isReported = recommendations.some(({ rationale }) =>
      rationale.includes('one query can take all memory from the others'),
    )
    expect(isReported).toBe(limit?.value === '0')
  })

  /** Calls a control tool, approves it and returns the result. */
  const approved = async (name: string, given: object) => {
    const headers = { 'content-type': 'application/json' }
    const approve = async (approvalId: string) =>
      fetchJson(`${url}/api/v1/agent/approvals/${approvalId}`, { method: 'POST', headers, body: '{"approved":true}' })
    gateway.play((request) =>
      countResponses(request) === 0 ? { say: [{ call: name, with: { ...given } }] } : { say: [{ text: 'done' }] },
    )
    const response = await fetch(`${url}/api/v1/agent`, { method: 'POST', headers, body: '{"message":"Do it"}' })
    let text = ''
    let approval: Promise<{ status: number }> | undefined
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece
      const [, approvalId] = /"approvalId":"([^"]+)"/.exec(text) ?? []
      if (approvalId) approval ??= approve(approvalId)
    }
    expect((await approval)?.status).toBe(200)
    return findLastData(await parseChunkStream(text), 'data-approval')
  }

  it('optimize_table merges after the approval of a user', async () => {
    const given = { database: 'crumbs', table: 'three', final: true }
    expect(await approved('optimize_table', given)).toMatchObject({ state: 'done' })
    const parts = "SELECT count() AS parts FROM system.parts WHERE active AND database = 'crumbs' AND table = 'three'"
    expect(await one(parts)).toEqual({ parts: 1 })
  })

  it('kill_mutation stops a mutation after the approval of a user', async () => {
    const stuck = await one('SELECT database, table, mutation_id AS mutationId FROM system.mutations WHERE NOT is_done')
    expect(await approved('kill_mutation', { ...stuck })).toMatchObject({ state: 'done' })
    expect(await one('SELECT count() AS left FROM system.mutations WHERE NOT is_done')).toEqual({ left: 0 })
  })

  it('ask_user passes the question to the user', async () => {
    const question = { question: 'Which one?', kind: 'single_choice', options: ['one', 'two'] }
    const chunks = await call('ask_user', question)
    expect(filterChunksByType(chunks, 'tool-input-available')).toMatchObject([
      { toolName: 'ask_user', input: question },
    ])
    expect(filterChunksByType(chunks, 'tool-output-available')).toEqual([])
    expect(chunks.at(-1)).toMatchObject({ finishReason: 'tool-calls' })
  })

  it('search_tools finds tools that the model does not have yet', async () => {
    const found = async (topic: string) =>
      JSON.stringify(filterChunksByType(await call('search_tools', { topic }), 'tool-output-available'))
    expect(await found('forecast when disks are full')).toContain('"forecast_disk_capacity"')
    expect(await found('what a query would cost')).toContain('"estimate_query_cost"')
    expect(await found('kill a mutation')).toContain('"kill_mutation"')
    expect(await found('merges that run now')).toContain('"get_merge_status"')
    expect((await found('PostgreSQL sessions and locks')).includes('"get_postgres_locks"')).toBe(hasSource)
  })

  it.each(replicationToolCases)('%s with %j returns data of the replication service', async (name, given, result) => {
    expect(await facts(name, given)).toMatchObject(result)
  })

  it('get_repldb_metrics names its missing parameter', async () => {
    const failed = filterChunksByType(await call('get_repldb_metrics', { metric: 'snapshot' }), 'tool-output-error')
    expect(Failure.parse(failed[0]).errorText).toContain('mirror is required')
  })

  if (hasSource) {
    it.each([
      ['get_postgres_activity', { all: true }, { counts: { waitingForLock: 0 }, sessions: expect.any(Array) }],
      [
        'list_postgres_statement_patterns',
        {},
        { patterns: [], whatToDo: expect.arrayContaining(['Restart the server.']) },
      ],
      ['get_postgres_table_stats', { order: 'age' }, { database: expect.any(String), tables: [] }],
      ['get_postgres_replication', {}, { isStandby: false, standbys: [], subscriptions: [] }],
      ['get_postgres_locks', {}, { sessions: [] }],
    ])('%s returns data of the PostgreSQL source', async (name, given, result) => {
      expect(await facts(name, given)).toMatchObject(result)
    })
  }
})
