import type { CallContext } from '#proto/call.ts'
import type { Catalogue, ChartInfo, TableInfo } from '#proto/catalogue.ts'
import type { ServiceHandlers } from '#proto/contract.ts'
import { ServiceError } from '#proto/errors.ts'
import {
  type FleetMetrics,
  type Host,
  type HostState,
  type HostStatus,
  query,
  type StatementExecution,
} from '#proto/query.ts'
import { createSampleHandlers } from './schema-samples.ts'
import { fakeExposition, fakeFleet } from './fleet.ts'
import {
  sampleExplanation,
  sampleFingerprint,
  sampleFingerprintDetail,
  sampleQueryDetail,
  fakeRules,
} from './analysis.ts'
import { fakeActions, fakeConnections, fakeManagedHosts, fakePageViews } from './query-writes.ts'
import { fakeAdviceData, fakeStructureFacts } from './advice.ts'
import { fakeConsole, fakeExplorer } from './explorer.ts'
import { fakeInsightRows, fakeReportRows } from './reports.ts'
import { fakePostgresSource } from './postgres-source.ts'
import { fakeRepldb } from './repldb.ts'

/** A call that reached `query`. */
export interface RecordedCall {
  method: string
  input: Record<string, unknown>
  call: CallContext
}

export type QueryHandlers = ServiceHandlers<typeof query>

const hosts: Host[] = [
  { id: 0, key: 'analytics', name: 'analytics', host: 'clickhouse-1:8123', group: 'eu', tags: ['prod'] },
  { id: 1, key: 'logs', name: 'logs', host: 'clickhouse-2:8123', group: null, tags: [] },
]

const states: HostState[] = hosts.map(({ key, id, name }) => ({
  key,
  id,
  name,
  status: id === 0 ? 'up' : 'down',
  reason: id === 0 ? null : 'unreachable',
  failure: id === 0 ? null : `host ${name} cannot be reached: nothing listens on its port`,
  version: id === 0 ? '26.3.1' : null,
  uptimeSeconds: id === 0 ? 60 : null,
  latencyMs: id === 0 ? 2 : null,
  checkedAtMs: Date.UTC(2026, 0, 1),
  clockSkewMs: id === 0 ? -3_601_234 : 0,
  missingGrants: [],
  missingLogs: [],
}))

const described = { doc: 'One sentence.', feature: 'QUERIES' as const, requires: [], parameters: [], topic: 'queries' }

export const sampleChartInfo: ChartInfo = {
  ...described,
  name: 'query-count',
  title: 'Queries',
  kind: 'bar',
  columns: [{ name: 'queries', role: 'value', unit: 'count' }],
  cache: 'standard',
}

export const sampleTableInfo: TableInfo = {
  ...described,
  feature: 'TABLES',
  name: 'running-queries',
  title: 'Running queries',
  columns: [{ name: 'elapsed', format: 'duration-seconds', bar: false, hidden: false }],
  charts: [],
  actions: [],
}

const catalogue: Catalogue = {
  topics: [{ id: 'queries', title: 'Queries' }],
  charts: [sampleChartInfo],
  tables: [sampleTableInfo],
}

const status: HostStatus = { version: '26.3.1', uptimeSeconds: 60, hostname: 'ch1', timezone: 'UTC', clockSkewMs: 1 }

const metrics: FleetMetrics = {
  databases: 3,
  tables: 40,
  runningQueries: 2,
  merges: 1,
  memoryUsedBytes: 10,
  memoryTotalBytes: 100,
  loadAverage: 0.5,
  cpuUsage: 0.25,
  cpuCores: 8,
  diskUsedBytes: 1,
  diskTotalBytes: 2,
  readonlyReplicas: 0,
  maxReplicaDelaySeconds: null,
}

export const sampleStatement: StatementExecution = {
  queryId: 'q1',
  durationMs: 3,
  rows: 2,
  rowsRead: 20,
  bytesRead: 200,
  host: 'analytics',
  clickhouseVersion: '26.3.1',
  sql: 'SELECT 1',
  timezone: null,
  incomplete: null,
}

const window = { interval: 'toStartOfHour' as const, fromMs: 1_790_000_000_000, toMs: 1_790_003_600_000 }

const noSuch = (kind: string, name: string, known: string): ServiceError =>
  new ServiceError('not-found', `unknown ${kind} "${name}"; did you mean "${known}"?`, {
    details: { nearest: [known] },
  })

export const encodeRows = (...rows: unknown[]): Uint8Array =>
  Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))

/** A minimal `query` service with two hosts, one chart and one table page; all other methods return samples. */
export const fakeQuery: QueryHandlers = {
  ...createSampleHandlers(query),
  ...fakeActions,
  ...fakeRules,
  ...fakeRepldb,
  hosts: async () => hosts,
  hostStates: async () => states,
  historyState: async () => ({ isEnabled: true, problem: null }),
  catalogue: async () => catalogue,
  hostStatus: async ({ fleet }) => ({ ...status, metrics: fleet ? metrics : null }),
  overview: async () => ({
    runningQueries: 2,
    todayQueries: 100,
    databaseCount: 3,
    tableCount: 40,
    diskUsage: { usedBytes: 1, totalBytes: 2, percent: 50 },
    hostInfo: status,
    metrics,
    unavailable: {},
  }),
  chart: async ({ name }) => {
    if (name !== sampleChartInfo.name) throw noSuch('chart', name, sampleChartInfo.name)
    return {
      chart: sampleChartInfo,
      rows: [{ queries: 7 }],
      window: null,
      unavailable: null,
      statement: sampleStatement,
    }
  },
  charts: async ({ names }) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        { ok: false as const, error: { code: 'not-found', message: `unknown chart "${name}"` } },
      ]),
    ),
  table: async ({ name }) => {
    if (name !== sampleTableInfo.name) throw noSuch('table page', name, sampleTableInfo.name)
    return { head: { table: sampleTableInfo, limit: 100, unavailable: null }, frames: twoRows() }
  },
  exportTable: async ({ name }) => {
    if (name !== sampleTableInfo.name) throw noSuch('table page', name, sampleTableInfo.name)
    return { head: { table: sampleTableInfo, limit: 100, unavailable: null }, frames: threeLines() }
  },
  filterOptions: async () => ({ options: [{ value: 'ada', rows: 2 }], truncated: false, unavailable: null }),
  fingerprints: async () => ({
    fingerprints: [sampleFingerprint],
    total: 1,
    window,
    unavailable: null,
    statement: sampleStatement,
  }),
  patternChanges: async () => ({
    changes: [
      {
        hash: '18446744073709551615',
        query: 'SELECT ?',
        kind: 'Select',
        change: 'slower',
        ratio: 2,
        now: { calls: 10, totalMs: 200, averageMs: 20, p95Ms: 40, errors: 0 },
        before: { calls: 10, totalMs: 100, averageMs: 10, p95Ms: 20, errors: 0 },
      },
    ],
    counts: { slower: 1, faster: 0, new: 0, vanished: 0, unchanged: 3 },
    window,
    compared: { ...window, fromMs: window.fromMs - 3_600_000, toMs: window.fromMs },
    unavailable: null,
    statement: sampleStatement,
  }),
  fingerprint: async () => ({ detail: sampleFingerprintDetail, window, unavailable: null }),
  executions: async () => ({ executions: [], total: 0, window, unavailable: null }),
  queryDetail: async () => ({ detail: sampleQueryDetail, unavailable: null }),
  explain: async () => sampleExplanation,
  exposition: fakeExposition,
  ...fakeFleet,
  ...fakePostgresSource,
  ...fakePageViews,
  ...fakeConnections,
  ...fakeManagedHosts,
  ...fakeConsole,
  ...fakeExplorer,
  ...fakeAdviceData,
  ...fakeInsightRows,
  ...fakeReportRows,
  ...fakeStructureFacts,
  databaseTables: async () => [{ database: 'shop', table: 'orders', engine: 'MergeTree' }],
}

async function* twoRows() {
  yield encodeRows({ elapsed: 1, text: 'a\nb' }, { elapsed: 2 })
  return { truncated: false, statement: sampleStatement }
}

async function* threeLines() {
  yield Buffer.from('"elapsed"\n1\n2\n')
  return { truncated: false, rows: 2 }
}

/** Wraps the handlers so that they also record each call in `received`. */
export const recordCalls = (handlers: QueryHandlers, received: RecordedCall[]): QueryHandlers => {
  const wrapped = Object.entries(handlers).map(([method, handle]) => [
    method,
    (input: never, call: CallContext) => {
      received.push({ method, input, call })
      return handle(input, call)
    },
  ])
  // Names and signatures are those of `handlers`.
  return Object.fromEntries(wrapped) as QueryHandlers
}
