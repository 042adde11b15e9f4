import { afterAll, beforeAll, expect, it } from 'vitest'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { readTable } from '../testing/read-table.ts'
import { buildTableStatement } from './table-statement.ts'

/** Returns the epoch time in seconds, `seconds` ago. */
const ago = (seconds: number): number => Math.floor(Date.now() / 1_000) - seconds
const milliseconds = 1_000
const created = ago(600)

interface SyntheticTable {
  /** The documented columns of a table that the embedded engine lacks. The default is the columns of the engine. */
  columns?: string
  rows: readonly object[]
}

/** Synthetic rows for tables that are empty on a single host without Keeper. */
const synthetic: Readonly<Record<string, SyntheticTable>> = {
  clusters: {
    rows: [
      { cluster: 'shop', shard_num: 1, replica_num: 1, host_name: 'a', port: 9000, is_local: 1 },
      { cluster: 'shop', shard_num: 1, replica_num: 2, host_name: 'b', port: 9000, errors_count: 3 },
      { cluster: 'shop', shard_num: 2, replica_num: 1, host_name: 'c', port: 9000, errors_count: 4, is_active: 0 },
      { cluster: 'lone', shard_num: 1, replica_num: 1, host_name: 'd', port: 9000 },
    ],
  },
  replication_queue: {
    rows: [
      { database: 'shop', table: 'orders', type: 'GET_PART', num_tries: 7, last_exception: 'no such part' },
      { database: 'shop', table: 'visits', type: 'MERGE_PARTS', create_time: created, parts_to_merge: ['p1', 'p2'] },
    ],
  },
  replicated_fetches: {
    rows: [{ table: 'orders', progress: 0.25, source_replica_hostname: 'b', source_replica_port: 9009, elapsed: 2.5 }],
  },
  zookeeper: {
    columns: `(name String, value String, path String, ctime DateTime, mtime DateTime, version Int32, cversion Int32,
      ephemeralOwner Int64, dataLength Int32, numChildren Int32)`,
    rows: [
      { name: 'clickhouse', path: '/', ctime: created, mtime: created, numChildren: 2 },
      { name: 'tables', path: '/clickhouse', value: 'abc', dataLength: 3, ephemeralOwner: 5 },
    ],
  },
  zookeeper_connection: {
    columns: `(name String, host String, port UInt16, connected_time DateTime, is_expired UInt8,
      keeper_api_version UInt8, enabled_feature_flags Array(Enum16('FILTERED_LIST' = 0, 'MULTI_READ' = 1)))`,
    rows: [
      { name: 'default', host: 'k1', port: 9181, connected_time: created, enabled_feature_flags: ['MULTI_READ'] },
      { name: 'other', host: 'k2', port: 9181, connected_time: created, is_expired: 1 },
    ],
  },
  zookeeper_watches: {
    columns: `(zookeeper_name String, path String, session_id Int64, request_xid Int64, watch_type String,
      create_time_microseconds DateTime64(6), op_num String)`,
    rows: [{ zookeeper_name: 'default', path: '/clickhouse', watch_type: 'Children', session_id: 7 }],
  },
  zookeeper_info: {
    columns: `(zookeeper_cluster_name String, host String, port UInt16, is_connected Nullable(UInt8), version String,
      server_state String, is_leader UInt8, avg_latency UInt64, min_latency UInt64, max_latency UInt64,
      outstanding_requests UInt64, znode_count UInt64, watch_count UInt64, ephemerals_count UInt64,
      approximate_data_size UInt64, packets_received UInt64, packets_sent UInt64, followers UInt64,
      synced_followers UInt64, last_log_idx UInt64, last_committed_idx UInt64, zxid UInt64)`,
    rows: [
      { host: 'k1', is_connected: 1, server_state: 'leader', is_leader: 1, followers: 1, avg_latency: 2 },
      { host: 'k2', is_connected: 0 },
    ],
  },
  kafka_consumers: {
    rows: [
      {
        table: 'orders',
        'assignments.topic': ['sold', 'sold'],
        'assignments.partition_id': [0, 1],
        'assignments.current_offset': [5, 6],
        'assignments.intent_size': [null, null],
        'exceptions.time': [ago(900), created],
        'exceptions.text': ['first', 'second'],
        dependencies: [['shop.feed', 'shop.orders']],
      },
    ],
  },
  roles: { rows: [{ name: 'reader', storage: 'local_directory' }, { name: 'writer' }] },
  role_grants: {
    rows: [
      { user_name: 'bob', granted_role_name: 'reader' },
      { user_name: 'ann', granted_role_name: 'reader' },
      { role_name: 'writer', granted_role_name: 'reader' },
    ],
  },
  grants: {
    rows: [
      { role_name: 'reader', access_type: 'SELECT', database: 'shop', grant_option: 1 },
      { user_name: 'ann', access_type: 'SELECT', database: 'shop', table: 'orders', is_partial_revoke: 1 },
    ],
  },
  keeper_cluster: {
    columns: `(server_id Int32, host String, endpoint String, is_observer Bool, priority Int32, is_leader Bool,
      is_self Bool, last_log_index Nullable(UInt64))`,
    rows: [
      { server_id: 2, endpoint: 'k2:9234' },
      { server_id: 1, endpoint: 'k1:9234', is_leader: true, is_self: true, last_log_index: 44 },
    ],
  },
  keeper_snapshots: {
    columns: `(last_log_index UInt64, path String, disk_name String, size_bytes UInt64, last_modified_at DateTime,
      is_received Bool, exists_on_disk Bool)`,
    rows: [{ last_log_index: 30, path: 'snapshot_30.bin.zstd', size_bytes: 512, last_modified_at: created }],
  },
  keeper_changelogs: {
    columns: `(from_log_index UInt64, to_log_index UInt64, last_entry_index UInt64, entries UInt64, path String,
      disk_name String, size_bytes UInt64, modification_time DateTime, active Bool, is_compressed Bool, is_broken Bool)`,
    rows: [{ from_log_index: 31, last_entry_index: 44, entries: 14, active: true, modification_time: created }],
  },
}

let sandbox: Sandbox
let parts: TestService

beforeAll(async () => {
  sandbox = await startSandbox()
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'sandbox' })
  await run('CREATE DATABASE synthetic')
  for (const [table, { columns, rows }] of Object.entries(synthetic)) {
    const sourced = columns ?? `AS system.${table}`
    await run(`CREATE TABLE synthetic.${table} ${sourced} ENGINE = MergeTree ORDER BY tuple()`)
    const lines = rows.map((row) => JSON.stringify(row)).join('\n')
    await run(`INSERT INTO synthetic.${table} FORMAT JSONEachRow ${lines}`)
  }
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const run = async (sql: string): Promise<void> => {
  const { status, text } = await curl(sandbox.url, sql)
  expect([sql, status, status === 200 ? '' : text]).toEqual([sql, 200, ''])
}

/** Returns the rows of a page over the synthetic tables, with the SQL for the newest server. */
const read = async (name: string, parameters: Record<string, string> = {}): Promise<Record<string, unknown>[]> => {
  const table = parts.definitions.table(name)
  const request = { filters: [], offset: 0, parameters, search: undefined, sort: undefined }
  const given = { serverVersion: '99.1', logs: new Map<string, string>(), limit: 100, zone: undefined }
  const statement = buildTableStatement(table, request, given)
  if (!statement) throw new Error(`the newest server is older than every branch of ${name}`)
  const sql = statement.sql.replaceAll(/system\.(\w+)/g, (whole, table: string) =>
    table in synthetic ? `synthetic.${table}` : whole,
  )
  const { columns, rows } = await parts.client.run(parts.hosts.get('sandbox'), { ...statement, sql }, createCall())
  expect(columns.map((column) => column.name)).toEqual(table.columns.map((column) => column.name))
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column.name, row[index]])))
}

it('counts clusters and lists their replicas', async () => {
  expect(await read('clusters')).toEqual([
    { cluster: 'lone', shards: 1, replicas: 1, hosts: 1, errors: 0, is_member: 0 },
    { cluster: 'shop', shards: 2, replicas: 3, hosts: 3, errors: 7, is_member: 1 },
  ])
  expect(await read('clusters-topology')).toHaveLength(4)
  const replicas = await read('clusters-topology', { cluster: 'shop' })
  expect(replicas.map((row) => [row.host, row.shard, row.errors, row.is_active]).toSorted()).toEqual([
    ['a', 1, 0, null],
    ['b', 1, 3, null],
    ['c', 2, 4, 0],
  ])
})

it.each(['cluster-live-metrics-all', 'count-in-replicas', 'replicas-status'])(
  '%s is unavailable for a cluster that the host does not know',
  async (name) => {
    const { head, rows } = await readTable(parts, { hostKey: 'sandbox', name, parameters: { cluster: 'nowhere' } })
    expect(rows).toEqual([])
    expect(head.unavailable).toMatchObject({ message: 'host sandbox has no cluster with that name' })
  },
)

it('sorts the replication queue by failures', async () => {
  expect(await read('replication-queue')).toMatchObject([
    { table: 'orders', type: 'GET_PART', tries: 7, exception: 'no such part', attempt_time: null },
    { table: 'visits', created: created * milliseconds, parts_to_merge: ['p1', 'p2'] },
  ])
  expect(await read('replicated-fetches')).toMatchObject([{ progress: 25, source: 'b:9009', elapsed: 2.5 }])
})

it('lists one path of the Keeper tree at a time', async () => {
  expect(await read('zookeeper')).toMatchObject([
    { node: '/clickhouse', child_count: 2, created: created * milliseconds, is_ephemeral: 0 },
  ])
  expect(await read('zookeeper', { path: '/clickhouse' })).toMatchObject([
    { node: '/clickhouse/tables', value: 'abc', size: 3, is_ephemeral: 1 },
  ])
})

it('lists Keeper connections with their features', async () => {
  const [first, second] = await read('keeper-connections')
  expect(first).toMatchObject({ host: 'k1', connected: created * milliseconds, features: ['MULTI_READ'] })
  expect(Number(first?.uptime)).toBeGreaterThanOrEqual(600)
  expect(second).toMatchObject({ host: 'k2', is_expired: 1, features: [] })
  const [presence] = await read('keeper-presence')
  expect(presence).toMatchObject({ connections: 2, expired: 1 })
  expect(await read('keeper-watches')).toMatchObject([{ path: '/clickhouse', type: 'Children', session_id: 7 }])
})

it('lists unreachable Keeper nodes first', async () => {
  const nodes = await read('keeper-info')
  expect(nodes).toMatchObject([{ host: 'k2' }, { host: 'k1', state: 'leader', average_latency: 2, followers: 1 }])
  expect(await read('keeper-overview')).toEqual(nodes)
})

it('lists members and files of an embedded Keeper', async () => {
  expect(await read('keeper-cluster')).toMatchObject([
    { server_id: 1, endpoint: 'k1:9234', is_leader: true, last_log_index: 44 },
    { server_id: 2, endpoint: 'k2:9234', is_leader: false, last_log_index: null },
  ])
  expect(await read('keeper-snapshots')).toMatchObject([
    { last_log_index: 30, size: 512, changed: created * milliseconds },
  ])
  expect(await read('keeper-changelogs')).toMatchObject([
    { first_log_index: 31, last_log_index: 44, entries: 14, is_active: true },
  ])
})

it('lists grants with their user or role', async () => {
  expect(await read('grants')).toMatchObject([
    { grantee: 'ann', kind: 'user', privilege: 'SELECT', database: 'shop', table: 'orders', is_exception: 1 },
    { grantee: 'reader', kind: 'role', privilege: 'SELECT', database: 'shop', table: null, may_grant: 1 },
  ])
})

it('lists roles with their members', async () => {
  expect(await read('roles')).toMatchObject([
    { name: 'reader', storage: 'local_directory', users: ['ann', 'bob'], roles: ['writer'] },
    { name: 'writer', users: [], roles: [] },
  ])
})

it('lists Kafka consumers with their last error', async () => {
  expect(await read('kafka-consumers')).toMatchObject([
    {
      table: 'orders',
      topics: ['sold'],
      partitions: 2,
      polled: null,
      exception_time: created * milliseconds,
      exception: 'second',
      dependencies: ['shop.feed > shop.orders'],
    },
  ])
})
