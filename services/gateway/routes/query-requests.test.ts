import { createClock } from '#shared/time/clock.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CatalogueResponse } from '#proto/http/data.ts'
import { type FakeProduct, startFakeProduct } from '../testing/fake-product.ts'

let product: FakeProduct
beforeAll(async () => {
  product = await startFakeProduct()
})
beforeEach(() => product.received.splice(0))
afterAll(async () => product[Symbol.asyncDispose]())

const json = { 'content-type': 'application/json' }
const table = '/api/v1/tables/running-queries'
const noFilters = { filters: [], offset: 0, parameters: {}, total: false }
const batch = (body: unknown) => ({ method: 'POST', body: JSON.stringify(body), headers: json })

const questions: [path: string, method: string, input: unknown, init?: RequestInit][] = [
  ['/api/v1/host-status?hostId=1', 'hostStatus', { hostKey: 'logs', fleet: false }],
  ['/api/v1/host-status?hostId=1&fleet=0', 'hostStatus', { hostKey: 'logs', fleet: false }],
  ['/api/v1/host-status?fleet=1&hostId=0', 'hostStatus', { hostKey: 'analytics', fleet: true }],
  ['/api/v1/overview?hostId=1', 'overview', { hostKey: 'logs' }],
  ['/api/v1/tables', 'databaseTables', { hostKey: 'analytics', limit: 1_001 }],
  ['/api/v1/tables?hostId=1&search=or&limit=5', 'databaseTables', { hostKey: 'logs', search: 'or', limit: 6 }],
  [
    `${table}/filter-options?hostId=1&column=user&filter=kind.notIn.x,y&search=a&timezone=UTC&min_elapsed=5`,
    'filterOptions',
    {
      hostKey: 'logs',
      name: 'running-queries',
      column: 'user',
      filters: [{ column: 'kind', operator: 'notIn', values: ['x', 'y'] }],
      search: 'a',
      timezone: 'UTC',
      parameters: { min_elapsed: '5' },
    },
  ],
  [
    `${table}?format=csv&limit=5&sort=user.asc`,
    'exportTable',
    {
      hostKey: 'analytics',
      name: 'running-queries',
      format: 'csv',
      filters: [],
      offset: 0,
      limit: 5,
      sort: { column: 'user', direction: 'asc' },
      parameters: {},
    },
  ],
  ['/api/v1/charts/query-count', 'chart', { hostKey: 'analytics', name: 'query-count', parameters: {} }],
  [
    '/api/v1/charts/query-count?hostId=1&interval=toStartOfHour&lastHours=24&from=10&to=20&timezone=europe/berlin&params=%7B%22user%22:%22a%22%7D',
    'chart',
    {
      hostKey: 'logs',
      name: 'query-count',
      interval: 'toStartOfHour',
      lastHours: 24,
      from: 10,
      to: 20,
      timezone: 'Europe/Berlin',
      parameters: { user: 'a' },
    },
  ],
  [
    '/api/v1/charts/batch',
    'charts',
    { hostKey: 'logs', names: ['a', 'b'], lastHours: 2, timezone: 'UTC', parameters: { x: 1 } },
    batch({ names: ['a', 'b'], hostId: 1, lastHours: 2, timezone: 'utc', params: { x: 1 } }),
  ],
  [
    '/api/v1/insights/query-patterns?hostId=1&lastHours=48&order=errors&search=orders&user=ada&own=1&limit=5&offset=10',
    'fingerprints',
    { hostKey: 'logs', lastHours: 48, order: 'errors', search: 'orders', user: 'ada', own: true, limit: 5, offset: 10 },
  ],
  [
    '/api/v1/insights/query-pattern-changes?hostId=1&lastMinutes=30&compareOffset=86400&measure=total&search=orders&user=ada&own=1&limit=5',
    'patternChanges',
    {
      hostKey: 'logs',
      lastMinutes: 30,
      compareOffset: 86_400,
      measure: 'total',
      search: 'orders',
      user: 'ada',
      own: true,
      limit: 5,
    },
  ],
  [
    '/api/v1/insights/query-patterns/123?from=10&to=20&interval=toStartOfHour&timezone=utc&executions=200',
    'fingerprint',
    {
      hostKey: 'analytics',
      hash: '123',
      from: 10,
      to: 20,
      interval: 'toStartOfHour',
      timezone: 'UTC',
      executions: 200,
    },
  ],
  [
    '/api/v1/insights/query-patterns/123/executions?hostId=1&from=10&to=20&minMs=5&maxMs=9&limit=7',
    'executions',
    { hostKey: 'logs', hash: '123', from: 10, to: 20, minMs: 5, maxMs: 9, limit: 7 },
  ],
  ['/api/v1/queries/a%2Fb%20c', 'queryDetail', { hostKey: 'analytics', queryId: 'a/b c', lastHours: 336 }],
  ['/api/v1/queries/q?hostId=1&lastHours=2', 'queryDetail', { hostKey: 'logs', queryId: 'q', lastHours: 2 }],
  [
    '/api/v1/explain?query=SELECT+1&mode=QUERY+TREE&planSettings=%7B%22passes%22:3%7D',
    'explain',
    { hostKey: 'analytics', query: 'SELECT 1', mode: 'query-tree', planSettings: { passes: 3 } },
  ],
  [
    '/api/v1/explain',
    'explain',
    { hostKey: 'logs', query: 'SELECT 1', mode: 'plan', planSettings: { json: false }, database: 'shop' },
    batch({ query: 'SELECT 1', hostId: 1, mode: '', planSettings: { json: false }, database: 'shop' }),
  ],
  [table, 'table', { hostKey: 'analytics', name: 'running-queries', ...noFilters }],
  [
    `${table}?hostId=1&sort=query.kind.desc&filter=user.eq.a.b&filter=kind.in.x,y&search=a%20b&timezone=UTC&min_elapsed=5`,
    'table',
    {
      hostKey: 'logs',
      name: 'running-queries',
      sort: { column: 'query.kind', direction: 'desc' },
      filters: [
        { column: 'user', operator: 'eq', values: ['a.b'] },
        { column: 'kind', operator: 'in', values: ['x', 'y'] },
      ],
      search: 'a b',
      offset: 0,
      total: false,
      timezone: 'UTC',
      parameters: { min_elapsed: '5' },
    },
  ],
  [
    `${table}?limit=20&offset=7&total=1`,
    'table',
    { hostKey: 'analytics', name: 'running-queries', ...noFilters, limit: 20, offset: 7, total: true },
  ],
  [
    `${table}?pageSize=20&page=3`,
    'table',
    { hostKey: 'analytics', name: 'running-queries', ...noFilters, limit: 20, offset: 40, page: 3 },
  ],
]

describe('requests to query', () => {
  it.each(questions)('%s', async (path, method, input, init) => {
    expect((await fetch(product.url + path, init)).status).toBe(200)
    expect(product.received.find((received) => received.method === method)?.input).toEqual(input)
  })

  it('requests the hosts once for concurrent callers while their list is fresh', async () => {
    let nowMs = 1_000_000
    await using counted = await startFakeProduct({ clock: createClock(() => nowMs) })
    const send = async () => fetch(`${counted.url}/api/v1/hosts`)
    const times = () => counted.received.filter(({ method }) => method === 'hosts').length
    await Promise.all([send(), send(), send()])
    nowMs += 1_999
    await send()
    expect(times()).toBe(1)
    nowMs += 1
    await Promise.all([send(), send()])
    expect(times()).toBe(2)
  })

  it('requests the hosts again after a failure', async () => {
    let refusals = 1
    await using product = await startFakeProduct({
      query: {
        hosts: async () => {
          if (refusals-- > 0) throw new Error('not yet')
          return []
        },
      },
    })
    expect((await fetch(`${product.url}/api/v1/hosts`)).status).toBe(500)
    expect((await fetch(`${product.url}/api/v1/hosts`)).status).toBe(200)
  })

  it('forwards the caller, the deadline and the trace', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const before = performance.now()
    await fetch(`${product.url}/api/v1/overview?hostId=0`, { headers: { traceparent, tracestate: 'a=b' } })
    const call = product.received.find(({ method }) => method === 'overview')?.call
    expect(call).toMatchObject({
      identity: { kind: 'anonymous', features: 'all' },
      trace: { traceparent, tracestate: 'a=b' },
      priority: 'person',
      caller: 'gateway',
    })
    expect((call?.deadline ?? 0) - before).toBeGreaterThan(70_000)
    expect((call?.deadline ?? 0) - before).toBeLessThan(80_000)
  })

  it('returns only definitions whose feature the caller may use', async () => {
    const identity = { kind: 'user' as const, subject: 'ada', features: ['TABLES'] }
    await using product = await startFakeProduct({ identify: async () => identity })
    const { data } = CatalogueResponse.parse(await (await fetch(`${product.url}/api/v1/catalogue`)).json())
    expect([data.charts.length, data.tables.length]).toEqual([0, 1])
  })
})
