/** A moment that many seconds before its row is written down, in seconds as the engine reads them or in parts of one. */
export const ago = (seconds: number, perSecond = 1) => ({
  toJSON: () => (Math.floor(Date.now() / 1_000) - seconds) * perSecond,
})

type Rows = Readonly<Record<string, readonly object[]>>

/** Rows of system tables under which a rule breaches, and others under which it does not. */
export interface Case {
  rule: string
  trouble: Rows
  /** What the rule then measures; of counters what they have grown by since there were no rows. */
  measured: number
  severity: 'warning' | 'critical'
  relief: Rows
}

const day = 86_400
const hour = 3_600
const gib = 2 ** 30
const metric = (name: string, value: number) => ({ metric: name, value })
const many = <T>(count: number, row: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => row(index))
const metrics = (...rows: object[]): Rows => ({ metrics: rows })
/** Of others. */
export const running = (count: number) => many(count, (index) => ({ query_id: `of-application-${index}` }))
/** Of the product: with the comment, and as a user may send it who may not change settings. */
export const ownStatements = [
  { http_user_agent: 'watchhouse', Settings: { log_comment: '{"watchhouse":"rules"}' } },
  { http_user_agent: 'watchhouse' },
]
/** A statement of a person. */
export const typedInConsole = { http_user_agent: 'watchhouse', Settings: { log_comment: '{"watchhouse":"console"}' } }
const asynchronous = (...rows: object[]): Rows => ({ asynchronous_metrics: rows })
const table = { database: 'shop', table: 'orders' }

/** All rows are invented: what a host alone does not have, or what takes hours. */
export const cases: readonly Case[] = [
  {
    rule: 'memory-pressure',
    trouble: asynchronous(metric('MemoryResident', 85), metric('OSMemoryTotal', 200), metric('CGroupMemoryTotal', 100)),
    measured: 85,
    severity: 'warning',
    relief: asynchronous(metric('MemoryResident', 85), metric('OSMemoryTotal', 200), metric('CGroupMemoryTotal', 0)),
  },
  {
    rule: 'memory-tracking-pct',
    trouble: {
      metrics: [metric('MemoryTracking', 96)],
      server_settings: [{ name: 'max_server_memory_usage', value: '100' }],
    },
    measured: 96,
    severity: 'critical',
    relief: {
      metrics: [metric('MemoryTracking', 96)],
      server_settings: [{ name: 'max_server_memory_usage', value: '0' }],
    },
  },
  {
    rule: 'load-per-core',
    trouble: asynchronous(
      metric('LoadAverage5', 16),
      ...['User', 'System', 'Idle'].flatMap((kind) => [
        metric(`OS${kind}Time`, 2),
        metric(`OS${kind}TimeNormalized`, 0.25),
      ]),
    ),
    measured: 2,
    severity: 'warning',
    relief: asynchronous(metric('LoadAverage5', 4), metric('OSIdleTime', 4), metric('OSIdleTimeNormalized', 1)),
  },
  {
    rule: 'io-wait-pct',
    trouble: asynchronous(metric('OSIOWaitTimeNormalized', 0.5)),
    measured: 50,
    severity: 'critical',
    relief: asynchronous(metric('OSIOWaitTimeNormalized', 0.1)),
  },
  {
    rule: 'total-parts',
    trouble: asynchronous(metric('TotalPartsOfMergeTreeTables', 60_000)),
    measured: 60_000,
    severity: 'warning',
    relief: asynchronous(metric('TotalPartsOfMergeTreeTables', 10)),
  },
  {
    rule: 'replication-lag',
    trouble: asynchronous(metric('ReplicasMaxAbsoluteDelay', 2_000)),
    measured: 2_000,
    severity: 'critical',
    relief: asynchronous(),
  },
  {
    rule: 'replica-queue',
    trouble: asynchronous(metric('ReplicasMaxQueueSize', 101)),
    measured: 101,
    severity: 'warning',
    relief: asynchronous(metric('ReplicasMaxQueueSize', 3)),
  },
  {
    rule: 'connections',
    trouble: {
      metrics: [metric('TCPConnection', 60), metric('HTTPConnection', 12), metric('InterserverConnection', 500)],
      server_settings: [{ name: 'max_connections', value: '100' }],
    },
    measured: 72,
    severity: 'warning',
    relief: { metrics: [metric('TCPConnection', 60)], server_settings: [] },
  },
  {
    rule: 'running-queries',
    trouble: {
      processes: [...running(99), ...ownStatements, typedInConsole],
      metrics: [metric('PendingAsyncInsert', 5)],
      server_settings: [{ name: 'max_concurrent_queries', value: '100' }],
    },
    measured: 95,
    severity: 'critical',
    relief: {
      processes: [...running(79), ...ownStatements],
      metrics: [],
      server_settings: [{ name: 'max_concurrent_queries', value: '0' }],
    },
  },
  {
    rule: 'rwlock-wait',
    trouble: metrics(metric('RWLockWaitingReaders', 49), metric('RWLockWaitingWriters', 1)),
    measured: 50,
    severity: 'critical',
    relief: metrics(metric('RWLockWaitingReaders', 0)),
  },
  {
    rule: 'merge-pool-busy',
    trouble: metrics(
      metric('BackgroundMergesAndMutationsPoolTask', 32),
      metric('BackgroundMergesAndMutationsPoolSize', 32),
    ),
    measured: 100,
    severity: 'critical',
    relief: metrics(metric('BackgroundMergesAndMutationsPoolTask', 3)),
  },
  {
    rule: 'message-broker-pool',
    trouble: metrics(
      metric('BackgroundMessageBrokerSchedulePoolTask', 16),
      metric('BackgroundMessageBrokerSchedulePoolSize', 16),
    ),
    measured: 100,
    severity: 'warning',
    relief: metrics(metric('BackgroundMessageBrokerSchedulePoolSize', 16)),
  },
  {
    rule: 'queries-preempted',
    trouble: metrics(metric('QueryPreempted', 1)),
    measured: 1,
    severity: 'warning',
    relief: metrics(metric('QueryPreempted', 0)),
  },
  {
    rule: 'readonly-replicas',
    trouble: metrics(metric('ReadonlyReplica', 1)),
    measured: 1,
    severity: 'critical',
    relief: metrics(metric('ReadonlyReplica', 0)),
  },
  {
    rule: 'keeper-session-count',
    trouble: metrics(metric('ZooKeeperSession', 2)),
    measured: 1,
    severity: 'critical',
    relief: metrics(metric('ZooKeeperSession', 1)),
  },
  {
    rule: 'distributed-files',
    trouble: metrics(metric('DistributedFilesToInsert', 700)),
    measured: 700,
    severity: 'critical',
    relief: metrics(metric('DistributedFilesToInsert', 10)),
  },
  {
    rule: 'distributed-broken',
    trouble: metrics(metric('BrokenDistributedFilesToInsert', 1)),
    measured: 1,
    severity: 'warning',
    relief: metrics(metric('BrokenDistributedFilesToInsert', 0)),
  },
  {
    rule: 'kafka-rebalances',
    trouble: { events: [{ event: 'KafkaRebalanceRevocations', value: 12 }], metrics: [metric('KafkaConsumers', 3)] },
    measured: 12,
    severity: 'warning',
    relief: { events: [{ event: 'KafkaRebalanceRevocations', value: 12 }], metrics: [metric('KafkaConsumers', 4)] },
  },
  {
    rule: 'disk-usage',
    trouble: {
      disks: [
        { name: 'full', type: 'Local', total_space: 100, free_space: 9 },
        { name: 's3', type: 'ObjectStorage', total_space: 100, free_space: 0 },
      ],
    },
    measured: 91,
    severity: 'critical',
    relief: { disks: [{ name: 'full', type: 'local', total_space: 100, free_space: 40 }] },
  },
  {
    rule: 'disk-unreserved-vs-largest-part',
    trouble: {
      disks: [{ name: 'default', type: 'Local', unreserved_space: 3 * gib }],
      parts: [
        { ...table, active: 1, disk_name: 'default', bytes_on_disk: 2 * gib },
        { ...table, active: 0, disk_name: 'default', bytes_on_disk: 9 * gib },
      ],
    },
    measured: 1.5,
    severity: 'warning',
    relief: {
      disks: [{ name: 'default', type: 'Local', unreserved_space: 3 * gib }],
      parts: [{ ...table, active: 1, disk_name: 'default', bytes_on_disk: gib }],
    },
  },
  {
    rule: 'system-log-size',
    trouble: {
      disks: [{ name: 'default', type: 'Local', total_space: 100 }],
      parts: [
        { database: 'system', table: 'text_log', bytes_on_disk: 8 },
        { database: 'system', table: 'query_log_3', bytes_on_disk: 4 },
        { ...table, bytes_on_disk: 80 },
      ],
    },
    measured: 12,
    severity: 'warning',
    relief: { disks: [{ name: 'default', type: 'Local', total_space: 1_000 }], parts: [] },
  },
  {
    rule: 'inactive-parts',
    trouble: { parts: many(2_000, () => ({ ...table, active: 0 })) },
    measured: 2_000,
    severity: 'warning',
    relief: { parts: [{ ...table, active: 1 }] },
  },
  {
    rule: 'partitions-per-table',
    trouble: { parts: many(1_001, (index) => ({ ...table, active: 1, partition_id: String(index) })) },
    measured: 1_001,
    severity: 'warning',
    relief: { parts: many(20, () => ({ ...table, active: 1, partition_id: 'all' })) },
  },
  {
    rule: 'longest-query',
    trouble: {
      processes: [
        { is_initial_query: 1, user: 'analyst', elapsed: 700 },
        { is_initial_query: 1, user: 'us', elapsed: 9_000, http_user_agent: 'watchhouse' },
      ],
    },
    measured: 700,
    severity: 'warning',
    relief: { processes: [] },
  },
  {
    rule: 'stuck-query-cancel',
    trouble: { processes: [{ is_cancelled: 1, elapsed: 100 }, { elapsed: 900 }] },
    measured: 100,
    severity: 'warning',
    relief: { processes: [{ elapsed: 900 }] },
  },
  {
    rule: 'stuck-merges',
    trouble: {
      merges: [
        { ...table, elapsed: 4_000, progress: 0.2 },
        { ...table, elapsed: 30_000, progress: 0.5, is_mutation: 1 },
        { ...table, elapsed: 30_000, progress: 0.999 },
      ],
    },
    measured: 4_000,
    severity: 'warning',
    relief: { merges: [{ ...table, elapsed: 4_000, progress: 0.99 }] },
  },
  {
    rule: 'mutations-pending',
    trouble: { mutations: [...many(100, () => table), { ...table, is_done: 1 }] },
    measured: 100,
    severity: 'warning',
    relief: { mutations: [{ ...table, is_done: 1 }] },
  },
  {
    rule: 'failed-mutations',
    trouble: { mutations: [{ ...table, create_time: ago(7 * hour), latest_fail_reason: 'no' }] },
    measured: 7 * hour,
    severity: 'critical',
    relief: { mutations: [{ ...table, create_time: ago(7 * hour) }] },
  },
  {
    rule: 'mutation-old',
    trouble: {
      mutations: [
        { ...table, create_time: ago(7 * hour) },
        { ...table, create_time: ago(hour) },
      ],
    },
    measured: 7 * hour,
    severity: 'warning',
    relief: { mutations: [{ ...table, create_time: ago(7 * hour), is_done: 1 }] },
  },
  {
    rule: 'server-warnings',
    trouble: { warnings: [{ message: 'too many tables' }] },
    measured: 1,
    severity: 'warning',
    relief: { warnings: [] },
  },
  {
    rule: 'mv-refresh-failures',
    trouble: {
      view_refreshes: many(3, (index) => ({ database: 'shop', view: `v${index}`, exception: 'no such table' })),
    },
    measured: 3,
    severity: 'critical',
    relief: { view_refreshes: [{ database: 'shop', view: 'v0' }] },
  },
  {
    rule: 'replica-session-expired',
    trouble: { replicas: [{ ...table, is_session_expired: 1 }] },
    measured: 1,
    severity: 'warning',
    relief: { replicas: [table] },
  },
  {
    rule: 'replicas-inactive',
    trouble: { replicas: [{ ...table, total_replicas: 3, active_replicas: 1 }] },
    measured: 1,
    severity: 'critical',
    relief: { replicas: [{ ...table, total_replicas: 1, active_replicas: 1 }] },
  },
  {
    rule: 'log-pointer-lag',
    trouble: { replicas: [{ ...table, log_max_index: 140, log_pointer: 100 }] },
    measured: 40,
    severity: 'warning',
    relief: { replicas: [{ ...table, log_max_index: 100, log_pointer: 101 }] },
  },
  {
    rule: 'replication-queue-stuck',
    trouble: { replication_queue: [{ ...table, num_tries: 101 }, { ...table, num_postponed: 1_001 }, table] },
    measured: 2,
    severity: 'warning',
    relief: { replication_queue: [{ ...table, num_tries: 100 }] },
  },
  {
    rule: 'ddl-queue-stuck',
    trouble: {
      distributed_ddl_queue: [
        { entry: 'query-1', host: 'a', status: 'Finished', query_create_time: ago(day) },
        { entry: 'query-2', host: 'b', status: 'Inactive', query_create_time: ago(2 * hour) },
      ],
    },
    measured: 2 * hour,
    severity: 'critical',
    relief: { distributed_ddl_queue: [{ entry: 'query-1', status: 'Finished', query_create_time: ago(day) }] },
  },
  {
    rule: 'cluster-host-errors',
    trouble: {
      clusters: [
        { cluster: 'shop', shard_num: 1, host_name: 'a', is_local: 1 },
        { cluster: 'shop', shard_num: 2, host_name: 'b', errors_count: 3 },
      ],
    },
    measured: 1,
    severity: 'critical',
    relief: { clusters: [{ cluster: 'shop', shard_num: 2, host_name: 'b' }] },
  },
]

/** Rules that add up totals since the start of the server, with the table and the column that names them. */
export const counters = [
  { rule: 'inode-or-write-errors', table: 'events', column: 'event' },
  { rule: 'slow-reads', table: 'events', column: 'event' },
  { rule: 'dns-or-network-errors', table: 'errors', column: 'name' },
  { rule: 'rejected-inserts', table: 'events', column: 'event' },
  { rule: 'delayed-inserts', table: 'events', column: 'event' },
  { rule: 'buffer-flush-errors', table: 'events', column: 'event' },
  { rule: 'replicated-data-loss', table: 'events', column: 'event' },
  { rule: 'fetch-or-check-failed', table: 'events', column: 'event' },
  { rule: 'merge-differs', table: 'events', column: 'event' },
  { rule: 'keeper-unavailable', table: 'events', column: 'event' },
  { rule: 'distributed-connect-fail', table: 'events', column: 'event' },
  { rule: 'distributed-rejected', table: 'events', column: 'event' },
  { rule: 'distributed-sync-timeout', table: 'events', column: 'event' },
  { rule: 'kafka-consumer-errors', table: 'events', column: 'event' },
  { rule: 'memory-limit-errors', table: 'errors', column: 'name' },
  { rule: 'login-failures', table: 'errors', column: 'name' },
  { rule: 'access-denied', table: 'errors', column: 'name' },
  { rule: 'no-available-replica', table: 'errors', column: 'name' },
]
