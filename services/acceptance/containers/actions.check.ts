import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { explainModes } from '#proto/explain.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../../testing/fetch-json.ts'
import { type Product, startProduct } from '../../testing/product.ts'
import { tools } from '../../mcp/tools/index.ts'
import { watchFailedStatements } from './failed-statements.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** The first of the two replicas that `run.ts` has started. */
const [a] = z.tuple([z.url(), z.url()]).parse(process.env.TEST_CLICKHOUSE_REPLICAS?.split(','))
const secret = 'of the schedule'
const analyzedSince = 26.7

let product: Product
let version = 0
let failed: () => Promise<unknown[]>

beforeAll(async () => {
  failed = await watchFailedStatements(a)
  await queryClickHouse(a, 'CREATE DATABASE yard ON CLUSTER default')
  await queryClickHouse(
    a,
    `CREATE TABLE yard.sales ON CLUSTER default (id UInt64, at DateTime, city String, amount Decimal(12, 2))
    ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/yard-sales', '{replica}') PARTITION BY toYYYYMM(at) ORDER BY id`,
  )
  for (let insert = 0; insert < 3; insert++) {
    await queryClickHouse(a, "INSERT INTO yard.sales SELECT number, now() - number, 'Bern', 1 FROM numbers(100000)")
  }
  const [server] = await queryClickHouse(a, 'SELECT toFloat64(extract(version(), $$^\\d+\\.\\d+$$)) AS version')
  version = Number(server?.version)
  product = await startProduct({
    hosts: [{ url: a, name: 'a' }],
    env: {
      CRON_SECRET: secret,
      COLUMNDB_MANAGEMENT_ENABLED: 'true',
      SVC_ALLOW_PRIVATE_HOSTS: 'true',
      SVC_MCP_PUBLIC: 'true',
      SVC_WEEKLY_REPORT_HOSTS: '0',
    },
  })
})
afterAll(async () => {
  await product?.stop()
  await queryClickHouse(a, 'DROP DATABASE yard ON CLUSTER default SYNC')
})

const post = async (path: string, body: object, method = 'POST') => {
  const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const { status, text, body: response } = await fetchJson(`${product.url}${path}`, init)
  expect([path, body, status, text.slice(0, 300)]).toEqual([path, body, 200, expect.any(String)])
  return response
}
const on = { database: 'yard', table: 'sales' }

it.each([
  ['create_role', { role: 'o`reader' }],
  ['create_user', { user: 'bo', password: 'long enough', allowedHosts: [{ kind: 'local' }], defaultRoles: [] }],
  ['alter_user', { user: 'bo', password: 'longer still', allowedHosts: [] }],
  ['grant_role', { role: 'o`reader', to: 'bo', adminOption: true }],
  ['grant_privilege', { ...on, privilege: 'SELECT', columns: ['id'], to: 'o`reader', grantOption: true }],
  ['grant_privilege', { ...on, privilege: 'update', table: null, to: 'bo' }],
  ['revoke_privilege', { ...on, privilege: 'SELECT', columns: ['id'], to: 'o`reader' }],
  ['revoke_role', { role: 'o`reader', to: 'bo' }],
  ['drop_user', { user: 'bo' }],
  ['drop_role', { role: 'o`reader' }],
])('%s changes who may do what', async (operation, params) => {
  expect(await post('/api/v1/management?hostId=0', { operation, params })).toMatchObject({ success: true })
})

it('ends a query', async () => {
  const queryId = randomUUID()
  const longQuery = fetch(`${a}/?query_id=${queryId}`, {
    method: 'POST',
    body: 'SELECT sum(sleepEachRow(1)) FROM numbers(60) SETTINGS max_block_size = 1',
  })
  const running = () => queryClickHouse(a, `SELECT 1 AS runs FROM system.processes WHERE query_id = '${queryId}'`)
  await retryUntil(running, (rows) => rows.length === 1)
  const killed = await post('/api/v1/actions?hostId=0', { action: 'killQuery', params: { queryId } })
  expect(killed).toMatchObject({ data: { state: 'done' } })
  expect(await (await longQuery).text()).toContain('QUERY_WAS_CANCELLED')
})

it('merges a table, and stops a mutation that cannot end', async () => {
  const act = (action: string, params: object) => post('/api/v1/actions?hostId=0', { action, params })
  expect(await act('optimizeTable', { ...on, final: true })).toMatchObject({ data: { state: 'done' } })
  await queryClickHouse(
    a,
    'ALTER TABLE yard.sales UPDATE city = toString(throwIf(id > 0)) WHERE 1 SETTINGS mutations_sync = 0',
  )
  const failing = () =>
    queryClickHouse(a, "SELECT mutation_id FROM system.mutations WHERE NOT is_done AND latest_fail_reason != ''")
  const [mutation] = await retryUntil(failing, (rows) => rows.length > 0)
  const { diagnosed } = z
    .object({ data: z.looseObject({}) })
    .transform(({ data }) => ({ diagnosed: JSON.stringify(data) }))
    .parse(await post('/api/v1/health/actions', { hostId: 0, ruleId: 'failed-mutations' }))
  expect(diagnosed).toContain('sales')
  const killed = await act('killMutation', { ...on, mutationId: mutation?.mutation_id })
  expect(killed).toMatchObject({ data: { state: 'done', target: { failing: true } } })
})

it('explains in every way that the server knows', async () => {
  const statement = 'SELECT city, count() FROM yard.sales WHERE id > 5 GROUP BY city'
  for (const mode of explainModes) {
    if (mode === 'analyze' && version < analyzedSince) continue
    expect(await post('/api/v1/explain', { query: statement, mode })).toMatchObject({ data: { mode } })
  }
})

it('advises, looks for insights, sweeps, reports and explains its rules', async () => {
  await post('/api/v1/advice', { query: "SELECT sum(amount) FROM yard.sales WHERE city = 'Bern' AND amount > 3" })
  await post('/api/v1/advice/table', { ...on, measure: true })
  await post('/api/v1/insights/generate', { hostId: 0, force: true })
  const to = Math.floor(Date.now() / 1_000)
  await post('/api/v1/reports', { hostId: 0, from: to - 86_400, to })
  for (const round of ['health-sweep', 'weekly-report', 'retention-prune', 'health-sweep']) {
    const headers = { authorization: `Bearer ${secret}` }
    expect((await fetchJson(`${product.url}/api/cron/${round}`, { headers })).status).toBe(200)
  }
  const { data } = z
    .object({ data: z.array(z.object({ ruleId: z.string(), isDiagnosed: z.boolean().default(true) })) })
    .parse((await fetchJson(`${product.url}/api/v1/health/checks?hostId=0`)).body)
  for (const ruleId of new Set(data.map((check) => check.ruleId))) {
    await post('/api/v1/health/actions', { hostId: 0, ruleId })
  }
})

it('connects to it as a guest', async () => {
  const target = { url: a, user: 'default', password: '' }
  expect(await post('/api/v1/browser-connections/test', target)).toMatchObject({ data: { ok: true } })
  expect(await post('/api/v1/browser-connections/sessions', target)).toMatchObject({ data: { hostId: 0 } })
})

/** Tool arguments that cover more than the example of the tool. */
const toolArguments: Readonly<Record<string, object>> = {
  list_tables: { database: 'yard' },
  get_table_schema: on,
  explore_table_schema: on,
  get_optimization_recommendations: { sql: "SELECT city FROM yard.sales WHERE city = 'Bern'" },
}

it.each(tools.map(({ name, example = {} }) => [name, toolArguments[name] ?? example]))(
  'answers the tool %s',
  async (name, given) => {
    const toolCall = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
    const { result } = z.object({ result: z.looseObject({}) }).parse(await post('/api/mcp', toolCall))
    expect([name, result.isError ?? false, result.content]).toEqual([name, false, expect.any(Array)])
  },
)

it('has had no statement of ours fail on it', async () => {
  expect(await failed()).toEqual([])
})
