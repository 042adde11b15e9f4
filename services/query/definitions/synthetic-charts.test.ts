import { afterAll, beforeAll, expect, it } from 'vitest'
import { curl } from '../../sandbox/curl.ts'
import { type Sandbox, startSandbox } from '../../sandbox/start.ts'
import { createCall, openTestService, type TestService } from '../testing/test-service.ts'
import { buildChartStatement } from './chart-statement.ts'
import { resolveChartWindow } from './window.ts'

/** Returns the epoch time in seconds, `seconds` ago. */
const ago = (seconds: number): number => Math.floor(Date.now() / 1_000) - seconds
const hour = 3_600
/** Returns both time columns of a log row that is `seconds` old. */
const at = (seconds: number) => ({ event_time: ago(seconds), event_time_microseconds: ago(seconds) * 1e6 })

/**
 * Synthetic rows for tables that are empty on a single host without Keeper. The columns are those of the engine, except
 * for `zookeeper_info`, which exists only with Keeper.
 */
const synthetic = {
  replicas: [
    { database: 'shop', table: 'late', absolute_delay: 400, queue_size: 50, inserts_in_queue: 9 },
    { database: 'shop', table: 'slow', absolute_delay: 30, queue_size: 250 },
    { database: 'shop', table: 'lost', replica_name: 'a', is_readonly: 1, is_session_expired: 1 },
  ],
  replication_queue: [
    { database: 'shop', table: 'late', is_currently_executing: 1, num_tries: 1, create_time: ago(50) },
    { database: 'shop', table: 'late', num_tries: 7, last_exception: 'no such part', create_time: ago(90) },
    { database: 'shop', table: 'slow', create_time: ago(10) },
  ],
  zookeeper_info: [
    { is_connected: 1, server_state: 'leader', is_leader: 1, followers: 2, synced_followers: 1, last_log_idx: 100 },
    { is_connected: 1, server_state: 'follower', last_log_idx: 90, znode_count: 50, avg_latency: 4 },
    { is_connected: 0 },
  ],
  zookeeper_connection_log: [
    { type: 'Connected', event_time: ago(60) },
    { type: 'Disconnected', event_time: ago(30) },
    { type: 'Connected', event_time: ago(29) },
  ],
  error_log: [
    { code: 999, error: 'KEEPER_EXCEPTION', value: 3, event_time: ago(60) },
    { code: 999, error: 'KEEPER_EXCEPTION', value: 4, event_time: ago(50) },
    { code: 60, value: 8, event_time: ago(50) },
    { code: 999, error: 'KEEPER_EXCEPTION', value: 20, event_time: ago(2 * hour) },
  ],
  backup_log: [
    { name: 'good', status: 'BACKUP_CREATED', total_size: 10, compressed_size: 7, ...at(600) },
    { name: 'bad', status: 'BACKUP_FAILED', error: 'the disk is full', total_size: 90, ...at(300) },
    { name: 'old', status: 'RESTORE_FAILED', error: 'no such backup', ...at(48 * hour) },
  ],
  view_refreshes: [
    { database: 'shop', view: 'fresh', last_success_time: ago(10) },
    { database: 'shop', view: 'broken', exception: 'no such table', last_success_time: ago(2 * hour) },
  ],
}

const numbersOfKeeper = [
  'followers',
  'synced_followers',
  'last_log_idx',
  'znode_count',
  'watch_count',
  'ephemerals_count',
]
const zookeeperInfo = `(is_connected Nullable(UInt8), server_state Nullable(String), is_leader Nullable(UInt8),
  ${[...numbersOfKeeper, 'approximate_data_size', 'avg_latency'].map((name) => `${name} Nullable(UInt64)`).join(', ')})`

let sandbox: Sandbox
let parts: TestService
let engine: { version: string }

beforeAll(async () => {
  sandbox = await startSandbox()
  parts = await openTestService({ COLUMNDB_HOST: sandbox.url, COLUMNDB_NAME: 'sandbox' })
  engine = await parts.client.capabilities(parts.hosts.get('sandbox'), createCall())
  await run('SYSTEM FLUSH LOGS')
  await run('CREATE DATABASE synthetic')
  for (const [table, rows] of Object.entries(synthetic)) await createSyntheticTable(table, rows)
}, 120_000)
afterAll(async () => {
  await parts?.[Symbol.asyncDispose]()
  await sandbox?.[Symbol.asyncDispose]()
})

const run = async (sql: string): Promise<void> => {
  const { status, text } = await curl(sandbox.url, sql)
  expect([sql, status, status === 200 ? '' : text]).toEqual([sql, 200, ''])
}

const createSyntheticTable = async (table: string, rows: readonly object[]): Promise<void> => {
  const columns = table === 'zookeeper_info' ? zookeeperInfo : `AS system.${table}`
  await run(`CREATE TABLE synthetic.${table} ${columns} ENGINE = MergeTree ORDER BY tuple()`)
  if (rows.some((row) => 'event_time' in row)) {
    await run(`ALTER TABLE synthetic.${table} MODIFY COLUMN event_date DEFAULT toDate(event_time)`)
  }
  await run(`INSERT INTO synthetic.${table} FORMAT JSONEachRow ${rows.map((row) => JSON.stringify(row)).join('\n')}`)
}

/** Returns the rows of a chart over the synthetic tables. */
const readChart = async (name: string): Promise<Record<string, unknown>[]> => {
  const chart = parts.definitions.chart(name)
  const window = resolveChartWindow(chart, {}, Date.now())
  const statement = buildChartStatement(chart, {
    serverVersion: engine.version,
    logs: new Map(),
    window,
    zone: undefined,
    parameters: {},
  })
  if (!statement) throw new Error(`the engine is older than every branch of ${name}`)
  const sql = Object.keys(synthetic).reduce(
    (text, table) => text.replaceAll(`system.${table}`, `synthetic.${table}`),
    statement.sql,
  )
  const { columns, rows } = await parts.client.run(parts.hosts.get('sandbox'), { ...statement, sql }, createCall())
  return rows.map((row) => Object.fromEntries(columns.map((column, index) => [column.name, row[index]])))
}

it('lowers the score of replicas by lag tier and queue size', async () => {
  expect(await readChart('replication-lag')).toEqual([
    { table: 'shop.late', status: 'severe', delay: 400, queue: 50, score: 0 },
    { table: 'shop.slow', status: 'slight', delay: 30, queue: 250, score: 65 },
    { table: 'shop.lost', status: 'in step', delay: 0, queue: 0, score: 100 },
  ])
  expect(await readChart('health-replication-lag')).toEqual([{ lag: 400 }])
  expect(await readChart('health-replication-lag-detail')).toMatchObject([
    { table: 'shop.late', lag: 400, inserts: 9 },
    { table: 'shop.slow', lag: 30 },
  ])
})

it('counts read-only replicas and returns the reason', async () => {
  expect(await readChart('health-readonly-replicas')).toEqual([{ replicas: 1 }])
  expect(await readChart('health-readonly-replicas-detail')).toMatchObject([
    { table: 'shop.lost', replica: 'a', reason: 'the session with Keeper has expired' },
  ])
})

it('counts the replication queue in total and by table', async () => {
  expect(await readChart('replication-queue-count')).toMatchObject([{ entries: 3, running: 1, failing: 1 }])
  expect(await readChart('replication-summary-table')).toMatchObject([
    { table: 'shop.late', entries: 2, running: 1, failing: 1, most_tries: 7 },
    { table: 'shop.slow', entries: 1, running: 0, failing: 0, most_tries: 0 },
  ])
})

it('groups an ensemble with an unreachable node', async () => {
  expect(await readChart('keeper-info-summary')).toMatchObject([
    {
      nodes: 3,
      answering: 2,
      states: 'follower, leader',
      leaders: 1,
      followers: 2,
      synced_followers: 1,
      log_lag: 10,
      znodes: 50,
      latency: 4,
    },
  ])
})

it('counts Keeper connections and exceptions within the window', async () => {
  const events = await readChart('keeper-connection-events')
  expect(events.reduce((sum, { connected }) => sum + Number(connected), 0)).toBe(2)
  expect(events.reduce((sum, { disconnected }) => sum + Number(disconnected), 0)).toBe(1)
  const exceptions = await readChart('zookeeper-exception')
  expect(exceptions.reduce((sum, each) => sum + Number(each.exceptions), 0)).toBe(27)
  expect(await readChart('health-keeper-exceptions-recent')).toEqual([{ exceptions: 7 }])
})

it('sums successful backups and counts failed ones', async () => {
  expect(await readChart('backup-size')).toMatchObject([{ backups: 1, total_bytes: 10, compressed_bytes: 7 }])
  expect(await readChart('health-failed-backups')).toEqual([{ failures: 1 }])
  expect(await readChart('health-failed-backups-detail')).toMatchObject([
    { name: 'bad', status: 'backup failed', reason: 'the disk is full' },
  ])
})

it('counts views with failed refreshes and returns the reason', async () => {
  expect(await readChart('health-mv-refresh-failures')).toEqual([{ views: 1 }])
  expect(await readChart('health-mv-refresh-failures-detail')).toMatchObject([
    { view: 'shop.broken', reason: 'no such table' },
  ])
})
