import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChartResult, Row } from '#proto/query.ts'
import { startSeededHost } from '../../testing/seeded-hosts.ts'
import type { Sandbox } from '../../sandbox/start.ts'
import { maxChartRows } from '../definitions/chart-statement.ts'
import { queryChart } from './chart.ts'
import { queryCharts } from './charts.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { sendResultRows, startHttpStub, type StubHost } from '../testing/stub-host.ts'

const hostKey = 'box'
const question = { lastHours: 6, parameters: {} }

/** Rounds averages to 12 digits, because the order of threads changes their last digits. */
const comparable = (rows: readonly Row[]): Row[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, withoutLastDigits(value)])))

const withoutLastDigits = (value: Row[string]): Row[string] =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(12)) : value

describe('batched charts', () => {
  let sandbox: Sandbox
  let parts: TestService
  beforeAll(async () => {
    sandbox = await startSeededHost('one')
    parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: hostKey, SVC_QUERY_CACHE: 'off' })
  }, 180_000)
  afterAll(async () => {
    await parts?.[Symbol.asyncDispose]()
    await sandbox?.[Symbol.asyncDispose]()
  })

  it('have the same rows as single charts', { tags: ['long'] }, async () => {
    // The window ends ten minutes ago, so that both reads see the same events.
    const to = Math.floor(Date.now() / 1_000) - 600
    const past = { from: to - 6 * 3_600, to, parameters: {} }
    const host = parts.hosts.get(hostKey)
    const series = parts.definitions.charts.filter((chart) => chart.interval !== undefined)
    const names = series.map(({ name }) => name)
    const together = await queryCharts(parts, host, names, past, createCall())
    let toChartData = 0
    for (const chart of series) {
      const alone = await queryChart(parts, host, chart, past, createCall())
      const result = together[chart.name]
      expect([chart.name, result?.ok && comparable(result.data.rows)]).toEqual([chart.name, comparable(alone.rows)])
      expect(result?.ok && result.data.statement?.sql).toBe(alone.statement?.sql)
      if (alone.rows.length > 0) toChartData++
    }
    expect(toChartData).toBeGreaterThan(series.length / 2)
  })

  it('without a window have columns', async () => {
    const names = ['database-count', 'table-count', 'disk-size-single']
    const together = await queryCharts(parts, parts.hosts.get(hostKey), names, { parameters: {} }, createCall())
    for (const name of names) {
      const { columns } = parts.definitions.chart(name)
      const result = together[name]
      expect(result?.ok && Object.keys(result.data.rows[0] ?? {})).toEqual(columns.map((column) => column.name))
      expect(result?.ok && result.data.statement).toMatchObject({ charts: names.length })
    }
  })
})

/** Starts a host that returns one number, except for statements that contain `failing`, which fail. */
const answering = async (
  failing: string,
  exception = 'Code: 241. DB::Exception: Too much memory. (MEMORY_LIMIT_EXCEEDED)',
) => {
  const requests: string[] = []
  const stub = await startHttpStub(
    ({ sql }, response) => {
      if (sql.includes(`LIMIT ${maxChartRows + 1}`)) requests.push(sql)
      if (sql.includes(failing)) response.writeHead(500).end(exception)
      else sendResultRows(response, [[7]])
    },
    { tables: ['query_log', 'metric_log', 'part_log', 'parts', 'processes', 'replicas'] },
  )
  return { stub, requests }
}

const overview = [
  'query-count',
  'query-duration-percentiles',
  'failed-query-count',
  'memory-usage',
  'cpu-usage',
  'query-count-by-user',
  'query-type',
  'slow-query-occurrences',
  'merge-count',
  'new-parts-created',
  'insert-performance',
  'disk-usage-by-database',
]

describe('a chart by user', () => {
  const readRows = async (rows: unknown[][]) => {
    await using stub = await startHttpStub(
      (_request, response) => sendResultRows(response, rows, ['time', 'user', 'queries']),
      { tables: ['query_log'] },
    )
    await using parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: hostKey })
    return (
      await queryChart(
        parts,
        parts.hosts.get(hostKey),
        parts.definitions.chart('query-count-by-user'),
        question,
        createCall(),
      )
    ).rows
  }

  it('keeps the queries that have no user', async () => {
    const rows = [
      [0, '', 6],
      [0, 'ada', 1],
    ]
    expect(await readRows(rows)).toEqual([
      { time: 0, user: '', queries: 6 },
      { time: 0, user: 'ada', queries: 1 },
    ])
  })

  it('drops the rows that gap filling adds to an empty result', async () => {
    expect(await readRows([[0, '', 0]])).toEqual([])
  })
})

describe('a batch', () => {
  const readCharts = async (
    stub: StubHost,
    names: readonly string[],
    call = createCall(),
  ): Promise<Record<string, ChartResult>> => {
    await using parts = await openTestService({
      COLUMNDB_HOST: stub.url,
      COLUMNDB_NAME: hostKey,
      SVC_QUERY_CACHE: 'off',
    })
    return await queryCharts(parts, parts.hosts.get(hostKey), names, question, call)
  }

  it('runs twelve overview charts in two statements', async () => {
    const { stub, requests } = await answering('nothing')
    await using _ = stub
    await readCharts(stub, overview)
    expect(requests.map((sql) => sql.match(/ AS chart, /g)?.length)).toEqual([6, 6])
  })

  it.each([
    ['cached for different times', ['query-type', 'query-count-heatmap']],
    ['waiting for Keeper or not', ['health-readonly-replicas', 'health-readonly-replicas-detail']],
    ['requested with different parameter values', ['slow-query-occurrences', 'slow-query-regressions']],
  ])('separates charts that are %s', async (_, names) => {
    const { stub, requests } = await answering('nothing')
    await using _stub = stub
    await readCharts(stub, names)
    expect(requests.map((sql) => sql.includes(' AS chart, '))).toEqual([false, false])
  })

  it('splits into single charts after a failure', async () => {
    const { stub, requests } = await answering('system.part_log')
    await using _ = stub
    const results = await readCharts(stub, ['new-parts-created', 'merge-count', 'query-count'])
    expect(results['new-parts-created']).toMatchObject({ ok: false, error: { code: 'unavailable' } })
    expect([results['merge-count']?.ok, results['query-count']?.ok]).toEqual([true, true])
    expect(requests).toHaveLength(4)
  })

  it('is not split on a host that rejects the user', async () => {
    const { stub, requests } = await answering(
      'SELECT',
      'Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)',
    )
    await using _ = stub
    const results = await readCharts(stub, ['merge-count', 'query-count'])
    expect(Object.values(results)).toMatchObject([{ ok: false }, { ok: false }])
    expect(requests).toHaveLength(1)
  })

  it('waits once for an unresponsive host', async () => {
    await using stub = await startHttpStub(() => undefined, 'none')
    await using parts = await openTestService({ COLUMNDB_HOST: stub.url, COLUMNDB_NAME: hostKey })
    let waits = 0
    const capabilities: typeof parts.client.capabilities = (...requests) => {
      waits++
      return parts.client.capabilities(...requests)
    }
    const counting = { ...parts, client: { ...parts.client, capabilities } }
    const call = createCall({ deadline: performance.now() + 300 })
    const results = await queryCharts(counting, parts.hosts.get(hostKey), overview, question, call)
    expect(Object.keys(results)).toEqual(overview)
    const codes = Object.values(results).map((result) => !result.ok && result.error.code)
    expect(new Set(codes)).toEqual(new Set(['timeout']))
    expect(waits).toBe(1)
  })

  it('returns errors for unknown and forbidden charts', async () => {
    const { stub } = await answering('nothing')
    await using _ = stub
    const guest = createCall({ identity: { kind: 'guest', subject: 'g', features: ['OVERVIEW'] } })
    const results = await readCharts(stub, ['no-such-chart', 'query-count', 'database-count'], guest)
    expect(results).toMatchObject({
      'no-such-chart': { ok: false, error: { code: 'not-found' } },
      'query-count': { ok: false, error: { code: 'forbidden', details: { feature: 'QUERIES' } } },
      'database-count': { ok: true },
    })
  })
})
