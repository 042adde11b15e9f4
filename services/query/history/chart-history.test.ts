import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { startSeededHost } from '../../testing/seeded-hosts.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import { createCall, createSilentTelemetry, openTestService, type TestService } from '../testing/test-service.ts'
import { hasLookbackWindow } from '#proto/lookback.ts'
import type { LoadedChart, LoadedTable } from '../definitions/load.ts'
import { findHistorySql } from './history-sql.ts'
import { readMissingHistory } from './missing-history.ts'
import { readRecordedMetrics } from './recorded-metrics.ts'
import { recordSlot } from './recorder.ts'
import { insertBatch, insertGap } from './watermarks.ts'

const hours = 4
const database = `history_${randomUUID().slice(0, 8)}`
let host: Sandbox
let engine: Sandbox
let parts: TestService
let env: Record<string, string>

/** A window that the logs of the host and the history contain. Just after the hour, its last minutes are not recorded. */
const recordedWithinMs = 600_000
const to = Math.floor((Date.now() - recordedWithinMs) / 3_600_000) * 3_600
const window = { from: to - 2 * 3_600, to, interval: 'toStartOfFiveMinutes' as const, timezone: 'UTC', parameters: {} }

beforeAll(async () => {
  ;[host, engine] = await Promise.all([startSeededHost('one'), startSandbox({ label: 'history' })])
  // Percentiles of few queries depend on how a function interpolates between them.
  await queryClickHouse(
    host.url,
    `INSERT INTO system.query_log
    SELECT * REPLACE (
      concat(query_id, '-', toString(copy)) AS query_id,
      toUInt64(query_duration_ms * (0.6 + copy / 25)) AS query_duration_ms,
      toUInt64(memory_usage * (0.6 + copy / 25)) AS memory_usage)
    FROM system.query_log ARRAY JOIN range(20) AS copy
    WHERE type = 'QueryFinish' AND event_time >= toDateTime({from:UInt32}) AND event_time < toDateTime({to:UInt32})`,
    { from: window.from, to: window.to },
  )
  env = { COLUMNDB_NAME: 'box', SVC_QUERY_CACHE: 'off', SVC_HISTORY_URL: engine.url, SVC_HISTORY_DATABASE: database }
  parts = await openTestService({ ...env, COLUMNDB_HOST: host.url })
  const from = Math.floor(Date.now() / 1_000) - hours * 3_600
  const period = { from: from - 60, until: from }
  for (const source of [
    { name: 'metrics', table: 'samples' },
    { name: 'queries', table: 'query_patterns' },
  ] as const)
    await insertBatch(parts.history, { host: 'box', source, before: undefined, period, rows: [], recordedMs: 1 })
  const deps = { ...parts, telemetry: createSilentTelemetry(), recorded: readRecordedMetrics() }
  const signal = new AbortController().signal
  // Each call catches up an hour at most.
  for (let hour = 0; hour < hours; hour++) await recordSlot(deps, 0, deps.hosts.list(), signal)
}, 240_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await Promise.all([host?.[Symbol.asyncDispose](), engine?.[Symbol.asyncDispose]()])
})

const exactCharts = [
  'query-count',
  'query-duration',
  'query-memory',
  'failed-query-count',
  'query-insights-qps',
  'query-insights-errors',
  'query-insights-read-throughput',
  'query-insights-operations',
  'cpu-usage',
  'memory-usage',
  'merge-count',
  'connections-pool',
  'disk-io-throughput',
  'traffic-ingest-speed',
  'traffic-network',
  'keeper-wait-time',
  'cpu-load-average',
  'cpu-mode-split',
  'disk-usage-trend',
  'query-type',
  'query-insights-hot-tables',
  'insight-error-rate',
  'traffic-insert-queries',
  'part-log-lifecycle',
  'traffic-inserted-rows',
]
const estimatedCharts = ['query-duration-percentiles', 'query-insights-latency', 'query-insights-memory']

const readChart = (service: TestService, name: string, more: { interval?: 'toStartOfHour' } = {}) =>
  service.handlers.chart({ hostKey: 'box', name, ...window, ...more }, createCall())

/** Opens the same product while its host is unreachable. */
const openDeadService = async () => {
  await queryClickHouse(engine.url, `TRUNCATE TABLE ${database}.owner`)
  return openTestService({ ...env, COLUMNDB_HOST: 'http://127.0.0.1:9' })
}

const near = (value: unknown, share: number): unknown =>
  typeof value === 'number' && value !== 0
    ? expect.closeTo(value, 6 - Math.ceil(Math.log10(Math.abs(value) * share)))
    : value

const listCharts = () => parts.definitions.charts.filter(({ lastHours }) => lastHours !== undefined)
const listTables = () => parts.definitions.tables.filter(hasLookbackWindow)

describe('the history', () => {
  it('has the source of every chart and table page with a time range, or there is a reason why not', () => {
    const missing = readMissingHistory()
    const without = (definitions: readonly (LoadedChart | LoadedTable)[]) =>
      definitions.filter((each) => !findHistorySql(each, {})).map(({ name }) => name)
    expect(without(listCharts()).toSorted()).toEqual([...missing.chart.keys()].toSorted())
    expect(without(listTables()).toSorted()).toEqual([...missing.table.keys()].toSorted())
  })

  it('records every metric that a chart reads', () => {
    const { columns } = readRecordedMetrics()
    const read = listCharts().flatMap((each) =>
      [...(findHistorySql(each, {})?.sql ?? '').matchAll(/\b(?:CurrentMetric|ProfileEvent)_\w+/g)].map(([name]) =>
        name.replace(/_highest$/, ''),
      ),
    )
    expect(read.filter((name) => !columns.includes(name))).toEqual([])
  })

  it('runs the statement of every chart and table page that it has', async () => {
    await using dead = await openDeadService()
    const reads = [
      ...listCharts()
        .filter((chart) => findHistorySql(chart, {}))
        .map(({ name }) => ({ name, read: () => readChart(dead, name) })),
      ...listTables()
        .filter((table) => findHistorySql(table, {}))
        .map(({ name }) => ({ name, read: () => readPage(dead, name) })),
    ]
    const failures: unknown[] = []
    for (const { name, read } of reads) {
      const failure = await read().then(
        ({ history }) => (history?.reason === 'host-unreachable' ? undefined : 'not from the history'),
        String,
      )
      if (failure !== undefined) failures.push([name, failure])
    }
    expect(reads.length).toBeGreaterThan(80)
    expect(failures).toEqual([])
  })

  it('has the same table pages as the host', async () => {
    await using dead = await openDeadService()
    for (const [name, columns] of comparedPages) {
      const [live, recorded] = [await readPage(parts, name), await readPage(dead, name)]
      const pick = (rows: readonly Record<string, unknown>[]) =>
        // The durations of queries that were rejected before their start are not recorded.
        rows.filter((row) => !row.errors).map((row) => columns.map((column) => near(row[column], 1e-6)))
      expect([name, live.rows.length > 0, live.history]).toEqual([name, true, undefined])
      expect([name, pick(recorded.rows)]).toEqual([name, pick(live.rows)])
    }
  })

  it('explains why a page of an unreachable host has no history', async () => {
    await using dead = await openDeadService()
    await expect(readPage(dead, 'failed-queries')).rejects.toThrow(
      'nothing listens on its port; the table has no history: single queries are not recorded',
    )
  })
})

const comparedPages = [
  ['query-count-baseline', ['time', 'queries']],
  ['slow-query-patterns', ['fingerprint', 'kind', 'calls', 'total_time', 'cpu', 'errors', 'read_rows', 'users']],
  ['top-usage-tables', ['database', 'table', 'queries', 'duration', 'read_rows', 'read_bytes']],
] as const

const readPage = async (service: TestService, name: string) => {
  const input = {
    hostKey: 'box',
    name,
    from: window.from,
    to: window.to,
    parameters: {},
    filters: [],
    offset: 0,
    total: false,
  }
  const { head, frames } = await service.handlers.table(input, createCall())
  const chunks: Uint8Array[] = []
  for await (const frame of frames) chunks.push(frame)
  const lines = Buffer.concat(chunks).toString().split('\n').filter(Boolean)
  return { history: head.history, rows: lines.map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line))) }
}

describe('the history of a chart', () => {
  it('has the same rows as the host', async () => {
    await using dead = await openDeadService()
    for (const name of exactCharts) {
      const [live, recorded] = [await readChart(parts, name), await readChart(dead, name)]
      expect([name, live.history]).toEqual([name, undefined])
      expect(recorded.history).toMatchObject({ reason: 'host-unreachable', fromMs: window.from * 1_000 })
      const rows = live.rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, value]) => [column, near(value, 1e-6)])),
      )
      expect([name, recorded.rows]).toEqual([name, rows])
      expect([name, live.rows.length > 0]).toEqual([name, true])
    }
  })

  it('estimates percentiles to a few percent', async () => {
    await using dead = await openDeadService()
    const interval = 'toStartOfHour'
    for (const name of estimatedCharts) {
      const [live, recorded] = [await readChart(parts, name, { interval }), await readChart(dead, name, { interval })]
      const differences = live.rows.flatMap((row, index) =>
        Object.entries(row).flatMap(([column, value]) => {
          const other = recorded.rows[index]?.[column]
          return typeof value === 'number' && typeof other === 'number' && value > 20
            ? [Math.abs(other / value - 1)]
            : []
        }),
      )
      expect([name, differences.length > 3]).toEqual([name, true])
      const median = differences.toSorted((a, b) => a - b)[Math.floor(differences.length / 2)]
      expect(median).toBeLessThan(0.06)
    }
  })

  it('precedes the rows of a host whose log begins later', async () => {
    const middle = to - 3_600
    const columns = 'event_time < toDateTime({middle:UInt32})'
    await queryClickHouse(
      host.url,
      `ALTER TABLE system.metric_log DELETE WHERE ${columns} SETTINGS mutations_sync = 1`,
      { middle },
    )
    const gap = { from: window.from - 600, until: window.from + 600 }
    await insertGap(parts.history, 'box', 'metrics', gap)
    // The start of a log is cached for each host object.
    await queryClickHouse(engine.url, `TRUNCATE TABLE ${database}.owner`)
    await using fresh = await openTestService({ ...env, COLUMNDB_HOST: host.url })
    const { rows, history } = await readChart(fresh, 'memory-usage')
    const gaps = [{ fromMs: gap.from * 1_000, toMs: gap.until * 1_000 }]
    expect(history).toMatchObject({ reason: 'log-start', fromMs: window.from * 1_000, gaps })
    expect(history?.toMs).toBeGreaterThanOrEqual(middle * 1_000)
    expect(history?.toMs).toBeLessThan((middle + 600) * 1_000)
    expect(rows).toHaveLength(24)
    expect(rows.filter(({ average_bytes: value }) => typeof value === 'number' && value > 0)).toHaveLength(24)
    const { memory } = await fresh.handlers
      .charts({ hostKey: 'box', names: ['memory-usage'], ...window }, createCall())
      .then((results) => ({ memory: results['memory-usage'] }))
    expect(memory).toMatchObject({ ok: true, data: { rows, history } })
  })

  it('is the last hour of an unreachable host', async () => {
    await using dead = await openDeadService()
    const last = await dead.handlers.lastHour({ hostKey: 'box' }, createCall())
    expect(last).toMatchObject({ isEnabled: true, problem: null })
    expect(last.lastSampleMs).toBeGreaterThan(Date.now() - 300_000)
    expect(last.samples.length).toBeGreaterThan(50)
    expect(last.samples.at(-30)).toMatchObject({ cpuCores: expect.any(Number), memoryBytes: expect.any(Number) })
    expect(last.patterns.length).toBeGreaterThan(0)
    const features = ['OVERVIEW']
    const guest = createCall({ identity: { kind: 'guest', subject: 'g', features } })
    expect(await dead.handlers.lastHour({ hostKey: 'box' }, guest)).toMatchObject({
      patterns: [],
      running: [],
      lines: [],
    })
  })

  it('reports the failure of the host for charts without history', async () => {
    await using dead = await openDeadService()
    await expect(readChart(dead, 'top-inserters')).rejects.toThrow('host box cannot be reached')
    const filtered = { hostKey: 'box', name: 'query-insights-qps', ...window, parameters: { user: 'ada' } }
    await expect(dead.handlers.chart(filtered, createCall())).rejects.toThrow('host box cannot be reached')
  })
})
