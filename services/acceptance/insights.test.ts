import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { query } from '#proto/query.ts'
import { openBus, openMemoryHub } from '#shared/bus/open.ts'
import { systemClock } from '#shared/time/clock.ts'
import type { Client } from '../client/client.ts'
import { openTestService, createSilentTelemetry } from '../query/testing/test-service.ts'
import { createClickhouseInsightStore } from '../report/stores/index.ts'
import { testInsightStore } from '../report/stores/stores.suite.ts'
import { type Sandbox, startSandbox } from '../sandbox/start.ts'
import { fetchJson, queryClickHouse, retryUntil } from '../testing/fetch-json.ts'
import {
  selectOneHash,
  type FakeTablesHost,
  fakeProcessStatements,
  fakeReplicaStatements,
  startFakeTablesHost,
} from '../testing/fake-tables.ts'
import { createProductClient, type Product, startProduct } from '../testing/product.ts'
import { describeOnTopologies } from '../testing/topologies.ts'

const startLimitMs = 180_000

/** The host that all tests share. */
let sandbox: Sandbox
let inventing: FakeTablesHost
const opened = new AsyncDisposableStack()
beforeAll(async () => {
  sandbox = opened.use(await startSandbox())
  for (const statement of [
    'CREATE DATABASE kept',
    'CREATE DATABASE shop',
    'CREATE TABLE shop.orders (n UInt64, v UInt8) ENGINE = MergeTree ORDER BY n',
    'INSERT INTO shop.orders VALUES (1, 1)',
    'ALTER TABLE shop.orders UPDATE v = throwIf(n > 0) WHERE 1 SETTINGS mutations_sync = 0',
    ...fakeReplicaStatements,
    ...fakeProcessStatements,
  ]) {
    await queryClickHouse(sandbox.url, statement)
  }
  inventing = opened.use(await startFakeTablesHost(sandbox.url, ['replicas', 'processes']))
  const failing = `SELECT count() AS failing FROM system.mutations WHERE latest_fail_reason != ''`
  await retryUntil(
    () => queryClickHouse(sandbox.url, failing),
    ([row]) => row?.failing === 1,
  )
}, startLimitMs)
afterAll(() => opened.disposeAsync())

describe('insights on the hosts themselves', () => {
  testInsightStore(async () => {
    const env = { COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'box', COLUMNDB_DATABASE: 'kept' }
    const parts = opened.use(await openTestService(env))
    const hub = openMemoryHub()
    const open = async (caller: 'query' | 'report') =>
      opened.use(
        await openBus({
          hub,
          caller,
          instance: caller,
          version: '1',
          telemetry: createSilentTelemetry(),
          clock: systemClock,
        }),
      )
    opened.use(await (await open('query')).serve(query, parts.handlers))
    return createClickhouseInsightStore((await open('report')).client(query), pino({ level: 'silent' }))
  })
})

describeOnTopologies('insights', (topology) => {
  let product: Product
  let client: Client
  beforeAll(async () => {
    await queryClickHouse(sandbox.url, 'DROP TABLE IF EXISTS system.monitoring_findings SYNC')
    const hosts = [
      { url: sandbox.url, name: 'one' },
      { url: sandbox.url, name: 'careful', user: 'analyst', password: 'analyst' },
      { url: 'http://127.0.0.1:9', name: 'silent' },
      { url: inventing.url, name: 'invented' },
    ]
    product = await startProduct({ topology, hosts, toolServer: true })
    client = createProductClient(product)
  }, startLimitMs)
  afterAll(() => product?.stop())

  const generate = (body: { hostId: number; force?: boolean }) =>
    client.call('POST /api/v1/insights/generate', { body })
  const listed = async (more: { dismissed?: boolean } = {}) =>
    (await client.call('GET /api/v1/insights', { query: { hostId: 0, ...more } })).data

  it('are detected, stored on the host and listed with their evidence', async () => {
    expect(await listed()).toEqual([])
    const { data, metadata } = await generate({ hostId: 0 })
    expect(metadata).toMatchObject({ ran: true, run: { storeError: null, found: data.length } })
    const stuck = data.find(({ kind }) => kind === 'stuck-mutation')
    expect(stuck).toMatchObject({
      subject: expect.stringContaining('shop.orders'),
      host: 'one',
      link: '/tables/mutations?host=0',
    })
    const evidence = await queryClickHouse(sandbox.url, stuck?.evidenceSql ?? '')
    expect(evidence).toMatchObject([{ database: 'shop', table: 'orders' }])
    expect(await listed()).toEqual(expect.arrayContaining(data))
    const [counted] = await queryClickHouse(sandbox.url, 'SELECT count() AS rows FROM system.monitoring_findings')
    expect(counted?.rows).toBe(data.length)
  })

  it('are also returned as findings in the specified shape', async () => {
    const { findings, count } = await client.call('GET /api/v1/findings', { query: { host: 0 } })
    expect(findings).toHaveLength(count)
    expect(findings.map(({ kind }) => kind)).toContain('stuck-mutation')
    expect((await fetch(`${product.url}/api/v1/findings?hostId=0`)).status).toBe(400)
  })

  it('are not scanned again at once unless forced; dismissed ones stay dismissed', async () => {
    const [first] = await listed()
    const body = { hostId: 0, id: first?.id ?? '' }
    const dismissed = await client.call('POST /api/v1/insights/dismiss', { body })
    expect(dismissed.data).toMatchObject({ id: first?.id, dismissed: { by: expect.any(String) } })
    expect((await generate({ hostId: 0 })).metadata).toMatchObject({ ran: false })
    expect((await generate({ hostId: 0, force: true })).metadata).toMatchObject({ ran: true })
    expect((await listed()).map(({ id }) => id)).not.toContain(first?.id)
    expect((await listed({ dismissed: true })).map(({ id }) => id)).toContain(first?.id)
    await client.call('POST /api/v1/insights/dismiss', { body: { ...body, dismissed: false } })
    expect((await listed()).map(({ id }) => id)).toContain(first?.id)
  })

  it('of a read-only user are returned but not stored, with the reason in the status', async () => {
    const { data } = await generate({ hostId: 1 })
    expect(data.map(({ kind }) => kind)).toContain('stuck-mutation')
    const status = await client.call('GET /api/v1/insights/status', { query: { hostId: 1 } })
    expect(status.data).toMatchObject({ backend: 'clickhouse', reason: null })
    expect(status.data.lastRun?.storeError).toContain('read-only')
    expect(await client.call('GET /api/v1/insights/backend')).toEqual({ backend: 'clickhouse' })
  })

  it.each([
    ['readonly-replica', 'shop.lost', 'critical', { database: 'shop', table: 'lost', isReadonly: 1 }],
    ['replica-lag', 'shop.late', 'info', { database: 'shop', table: 'late', delaySeconds: 400 }],
    ['long-query', selectOneHash, 'warning', { hash: selectOneHash, user: 'reports', elapsedSeconds: 4_000 }],
  ])('%s is found by the tables of a host that say so', async (kind, subject, severity, row) => {
    const { data } = await generate({ hostId: 3, force: true })
    const found = data.filter((insight) => insight.kind === kind)
    expect(found).toMatchObject([{ subject, severity, host: 'invented' }])
    expect(await queryClickHouse(inventing.url, found[0]?.evidenceSql ?? '')).toContainEqual(
      expect.objectContaining(row),
    )
  })

  it('of an unreachable host are an error that names the host, and no run', async () => {
    await expect(generate({ hostId: 2 })).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('silent'),
    })
    expect((await client.call('GET /api/v1/insights/status', { query: { hostId: 2 } })).data.lastRun).toBeNull()
  })

  it.each([
    ['generate', { hostId: 9 }, 404, 'hostId'],
    ['generate', { hostId: 0, force: 'yes' }, 400, 'force'],
    ['dismiss', { hostId: 0, id: 'x' }, 400, 'id'],
    ['dismiss', { hostId: 0, id: '0'.repeat(32) }, 404, 'insight not found'],
  ])('%s with %j is refused with %d', async (path, body, status, words) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetchJson(`${product.url}/api/v1/insights/${path}`, init)
    expect(response).toMatchObject({ status, text: expect.stringContaining(words) })
  })
})
