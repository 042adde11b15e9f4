import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FleetHost } from '#proto/fleet.ts'
import type { HostLoad } from '#proto/query.ts'
import type { QueryHandlers } from './query.ts'

const gzipped = promisify(gzip)

/** Metrics text of every host: two metrics, one of them with escaped characters in its help text. */
const figures = [
  String.raw`# HELP clickhouse_query Queries that run, in C:\\logs\nor elsewhere`,
  '# TYPE clickhouse_query gauge',
  'clickhouse_query 3',
  '# TYPE clickhouse_uptime gauge',
  'clickhouse_uptime 60.5',
  '',
].join('\n')

/** A handler of `exposition` that returns the same metrics, 250 ms old, for every host. */
export const fakeExposition: QueryHandlers['exposition'] = async () => ({
  head: { failure: null, ageMs: 250, freshForMs: 29_000 },
  frames: singleFrame(await gzipped(figures)),
})

/** Yields the text as one frame. */
async function* singleFrame(text: Uint8Array): AsyncGenerator<Uint8Array, Record<string, never>, void> {
  yield text
  return {}
}

const load: HostLoad = {
  runningQueries: 2,
  merges: 1,
  memoryUsedBytes: 10,
  memoryTotalBytes: 100,
  loadAverage: 0.5,
  cpuUsage: 0.25,
  diskUsedBytes: 1,
  diskTotalBytes: 2,
  readonlyReplicas: 0,
  maxReplicaDelaySeconds: null,
}

const up: FleetHost = {
  id: 0,
  key: 'analytics',
  name: 'analytics',
  group: 'eu',
  tags: ['prod'],
  status: 'up',
  reason: null,
  version: '26.3.1',
  uptimeSeconds: 60,
  latencyMs: 2,
  missingGrants: [],
  load,
  ageMs: 4_000,
}
const down: FleetHost = {
  id: 1,
  key: 'logs',
  name: 'logs',
  group: null,
  tags: [],
  status: 'down',
  reason: 'unreachable',
  version: null,
  uptimeSeconds: null,
  latencyMs: null,
  missingGrants: [],
  load: null,
  ageMs: 6_000,
}

const cost = { statements: 3, failures: 1, cpuMs: 20, durationMs: 30, readRows: 40, readBytes: 50 }
const window = { interval: null, fromMs: 1_790_000_000_000, toMs: 1_790_003_600_000 }
const status = { version: '26.3.1', uptimeSeconds: 60, hostname: 'ch1', timezone: 'UTC', clockSkewMs: 1 }
const refused = { code: 'unavailable', message: 'host logs cannot be reached' }
const comparedFigures = {
  calls: 2,
  totalMs: 30,
  averageMs: 15,
  p95Ms: 19.5,
  errors: 1,
  cpuMs: 2.5,
  readRows: 1,
  readBytes: 8,
  peakMemoryBytes: 12,
}
const replica = {
  number: 1,
  host: 'ch1',
  address: '10.0.0.1',
  port: 9000,
  isLocal: true,
  hostKey: 'analytics',
  errors: 0,
  slowdowns: 0,
  forgivenInSeconds: 0,
  isActive: null,
  ddlLag: null,
  recoveringMs: null,
}
const replication = {
  tables: 4,
  readonly: 0,
  sessionsExpired: 0,
  maxDelaySeconds: 3,
  queueSize: 2,
  lostParts: 0,
  exception: '',
}

/** Handlers for views of several hosts, and for the cost of their queries; the host `logs` is down. */
export const fakeFleet = {
  fleet: async () => [up, down],
  ownCost: async () => ({
    cost: { total: { ...cost, cpuShare: 0.01 }, purposes: [{ purpose: 'chart', ...cost }] },
    window,
    unavailable: null,
  }),
  settingsDiff: async ({ hostKeys }) => ({
    hosts: hostKeys.map((hostKey) => ({ hostKey, error: hostKey === 'logs' ? refused : null, unavailable: [] })),
    rows: [
      {
        table: 'settings',
        name: 'max_threads',
        values: hostKeys.map((hostKey) => (hostKey === 'logs' ? null : '8')),
        hasDiff: false,
        changedFromDefault: true,
      },
    ],
  }),
  schemaDiff: async () => ({
    differences: [
      {
        kind: 'table',
        name: 'shop.orders',
        change: 'changed',
        diff: '@@ -2,1 +2,1 @@\n-  `price` Float32,\n+  `price` Float64,\n',
      },
    ],
    statements: [
      {
        object: 'shop.orders',
        sql: 'ALTER TABLE `shop`.`orders` MODIFY COLUMN `price` Float64',
        risk: 'rewrite',
        note: 'converts all values from Float32 to Float64',
      },
    ],
    total: 1,
    compared: { base: 12, target: 12 },
    notes: [],
  }),
  comparison: async ({ hostKeys }) => ({
    hosts: hostKeys.map((hostKey) =>
      hostKey === 'logs'
        ? { hostKey, error: refused, status: null, metrics: null, unavailable: null }
        : {
            hostKey,
            error: null,
            status,
            metrics: { databases: 3, tables: 40, cpuCores: 8, ...load },
            unavailable: null,
          },
    ),
    patterns: [
      {
        hash: '18446744073709551615',
        query: 'SELECT ?',
        kind: 'Select',
        values: hostKeys.map((hostKey) => (hostKey === 'logs' ? null : comparedFigures)),
      },
    ],
    window,
  }),
  topology: async ({ cluster = 'shop' }) => ({
    clusters: [
      {
        name: cluster,
        shards: [
          {
            number: 1,
            weight: 1,
            internalReplication: true,
            replicas: [replica, { ...replica, number: 2, host: 'ch9', isLocal: false, hostKey: null, errors: 3 }],
          },
        ],
      },
    ],
    members: [
      { hostKey: 'analytics', error: null, status: 'up', version: '26.3.1', load, replication, unavailable: null },
    ],
    truncated: false,
    unavailable: null,
  }),
} satisfies Partial<QueryHandlers>
